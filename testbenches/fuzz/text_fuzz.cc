// The .lpn parser on any bytes: an Error or a net, and a net prints and parses to the same text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "lpn/base/error.h"
#include "lpn/text/text.h"
#include "require.h"

namespace {

using lpn::fuzz::require;

// "12:3: ..."
bool has_place(std::string_view message) {
  const std::size_t colon = message.find_first_not_of("0123456789");
  return colon != 0 && colon != std::string_view::npos && message[colon] == ':';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string printed;
  try {
    printed = lpn::print_net(lpn::parse_net(text));
  } catch (const lpn::Error& error) {
    require(error.code() != "E-text" || has_place(error.what()), "an error without its line");
    return 0;
  }
  std::string again;
  try {
    again = lpn::print_net(lpn::parse_net(printed));
  } catch (const lpn::Error& error) {
    std::fprintf(stderr, "%s\n%s\n", printed.c_str(), error.what());
    require(false, "a printed net does not parse");
  }
  require(again == printed, "print(parse(t)) differs from t");
  return 0;
}
