// Changes certificates part by part, since bytes of JSON that are changed at random seldom are
// JSON.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/smt/certificate_json.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace lpn;  // NOLINT: all of this file is about lpn's types
using smt::PathCertificate;
using smt::Step;

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

  void change(PathCertificate& certificate) {
    auto& steps = certificate.steps;
    switch (below(steps.empty() ? 2 : 8)) {
      case 0: certificate.bound = number(certificate.bound); break;
      case 1:
        steps.insert(steps.begin() + static_cast<long>(below(steps.size() + 1)), step());
        break;
      case 2: steps.erase(steps.begin() + static_cast<long>(below(steps.size()))); break;
      case 3: steps.push_back(steps[below(steps.size())]); break;
      default: change(steps[below(steps.size())]);
    }
  }

 private:
  // Near what it was, small, or at the end of a type.
  template <typename T>
  T number(T old) {
    switch (below(6)) {
      case 0: return static_cast<T>(old + static_cast<T>(1));
      case 1: return static_cast<T>(old - static_cast<T>(1));
      case 2: return static_cast<T>(below(12));
      case 3: return static_cast<T>(std::uint64_t{1} << below(64));
      case 4: return static_cast<T>((std::uint64_t{1} << below(64)) - 1);
      default: return static_cast<T>(std::uint64_t{0} - (std::uint64_t{1} << below(64)));
    }
  }

  template <typename T>
  void change(std::vector<T>& values) {
    if (values.empty() || below(3) == 0) {
      values.insert(values.begin() + static_cast<long>(below(values.size() + 1)),
                    static_cast<T>(below(4)));
    } else if (below(4) == 0) {
      values.erase(values.begin() + static_cast<long>(below(values.size())));
    } else {
      T& value = values[below(values.size())];
      value = number(value);
    }
  }

  void change(Step::Chain& chain) {
    if (below(2) == 0)
      chain.weight = number(chain.weight);
    else
      change(chain.arcs);
  }

  void change(std::optional<std::uint32_t>& value) {
    if (value && below(3) == 0)
      value.reset();
    else
      value = number(value.value_or(0));
  }

  void change(Step::Part& part) {
    switch (below(7)) {
      case 0: part.instant = InstantId{number(static_cast<std::uint32_t>(part.instant))}; break;
      case 1: part.weight = number(part.weight); break;
      case 2: change(part.multipliers); break;
      case 3: change(part.budget); break;
      case 4: part.quantum = number(part.quantum); break;
      case 5:
        if (part.tolls.empty() || below(3) == 0)
          part.tolls.push_back({InstantId{static_cast<std::uint32_t>(below(12))}, {1, {0}}});
        else
          change(part.tolls[below(part.tolls.size())].chain);
        break;
      default:
        if (part.behind)
          part.behind.reset();
        else
          part.behind = InstantId{static_cast<std::uint32_t>(below(12))};
    }
  }

  void change(Step& step) {
    switch (below(11)) {
      case 0: step.kind = static_cast<Step::Kind>(below(5)); break;
      case 1: step.unit = number(step.unit); break;
      case 2: step.tuple = number(step.tuple); break;
      case 3: step.denominator = number(step.denominator); break;
      case 4: change(step.multipliers); break;
      case 5: change(step.budget); break;
      case 6: step.quantum = number(step.quantum); break;
      case 7:
      case 8:
        if (step.parts.empty() || below(4) == 0)
          step.parts.push_back({.instant = InstantId{static_cast<std::uint32_t>(below(12))},
                                .weight = 1,
                                .multipliers = step.multipliers});
        else
          change(step.parts[below(step.parts.size())]);
        break;
      case 9: step.threshold = number(step.threshold); break;
      default:
        if (step.chains.empty() || below(4) == 0)
          step.chains.push_back({1, {0}});
        else
          change(step.chains[below(step.chains.size())]);
    }
  }

  Step step() {
    Step made;
    made.kind = static_cast<Step::Kind>(below(4));
    made.tuple = static_cast<std::uint32_t>(1 + below(5));
    made.unit = static_cast<std::uint32_t>(below(3));
    if (below(2) == 0) made.multipliers.assign(below(4), static_cast<std::int64_t>(below(3)));
    return made;
  }

  std::mt19937 random_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  Mutator mutator(seed);
  if (mutator.below(10) == 0) return LLVMFuzzerMutate(data, size, most);
  try {
    PathCertificate certificate =
        smt::parse_certificate({reinterpret_cast<const char*>(data), size}, true);
    for (std::size_t left = 1 + mutator.below(3); left > 0; --left) mutator.change(certificate);
    const std::string text = smt::to_json(certificate);
    if (text.size() <= most) {
      std::memcpy(data, text.data(), text.size());
      return text.size();
    }
  } catch (const Error&) {
  }
  return LLVMFuzzerMutate(data, size, most);
}
