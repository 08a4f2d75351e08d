// The marking file's reader on any bytes: an Error or a marking, which saves and loads to itself.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lpn/base/error.h"
#include "lpn/net/marking.h"
#include "lpn/text/text.h"

namespace {

constexpr std::string_view kNet = R"(lpn 1
net sample
type unit ()
type block (nonzero: 0..63, plane)
place coded : block start
place ready : block
place free : unit
end
)";

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "marking_fuzz: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lpn::Net net = lpn::parse_net(kNet);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string saved;
  try {
    saved = lpn::save_marking(net, lpn::load_marking(net, bytes));
  } catch (const lpn::Error&) {
    return 0;
  }
  require(lpn::save_marking(net, lpn::load_marking(net, saved)) == saved,
          "save(load(b)) differs from b");
  return 0;
}
