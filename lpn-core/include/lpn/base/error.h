// Errors of the user's making: an illegal net, marking, file or request.
//
// Three kinds of failure are never mixed: what the user can mend is an `Error`; what is our bug
// is an LPN_ASSERT (it throws a Bug); what is an answer (stalled, limit) is a return value.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace lpn {

// Carries a stable code ("E-range") with an entry in docs/errors.md, and a complete message that
// names the culprit and says what to write instead.
class Error : public std::runtime_error {
 public:
  Error(std::string code, const std::string& message)
      : std::runtime_error(message), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

[[noreturn]] void assert_failed(const char* what, const char* file, int line);

}  // namespace lpn

// A broken promise inside our own code; never reachable by user input.
#define LPN_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::lpn::assert_failed(#condition, __FILE__, __LINE__))
