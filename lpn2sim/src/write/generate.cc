#include "lpn/sim/generate.h"

#include <algorithm>

#include "write/event_facts.h"
#include "write/event_names.h"
#include "write/events.h"
#include "write/expr.h"
#include "write/flow.h"
#include "write/link.h"
#include "write/writer.h"

namespace lpn::sim {

std::string generate(const Net& net, const GenerateOptions& options) {
  const EventFacts facts(net, options);
  Writer out;
  out.line("#include \"lpnrt/static.h\"");
  out.line("namespace lpn_net{} {{", options.suffix);
  out.line("using namespace lpnrt;");
  const ExprPool& exprs = facts.net.exprs;
  for (std::size_t k = 0; k < exprs.tables(); ++k) {
    std::string values;
    Range range{0, 0};
    for (const std::int64_t v : exprs.table(static_cast<std::uint32_t>(k))) {
      values += literal(v) + ",";
      range = {std::min(range.lo, v), std::max(range.hi, v)};
    }
    out.line("constexpr {} kTable{}[] = {{{}}};", number_type(range), k, values);
  }
  Members members(facts.apart);
  out.add(generate_events(facts, members));
  if (facts.flows()) {
    out.line("#if {}", facts.flow_condition());
    out.add(generate_flow(facts.net, facts.declared.places.size(), facts.plan, members));
    out.line("#endif");
  }
  out.line("constexpr lpn_sim_api kApi = Abi<Net>::table();");
  out.line("}}  // namespace");
  out.line(
      "extern \"C\" __attribute__((visibility(\"default\"))) const lpn_sim_api* "
      "lpn_sim_entry{0}() {{ return &lpn_net{0}::kApi; }}",
      options.suffix);
  std::string text = out.take();
  if (text.size() > options.most) throw facts.too_large();
  return text;
}

}  // namespace lpn::sim
