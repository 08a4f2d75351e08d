#include "lpn/net/marking.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/text/text.h"

using namespace lpn;

namespace {

Net sample_net(std::string_view block = "(nonzero: 0..63, plane)") {
  return parse_net("lpn 1\nnet sample\ntype unit ()\ntype block " + std::string(block) +
                   "\nplace coded : block start\nplace ready : block\nplace free : unit\nend\n");
}

constexpr PlaceId kCoded{0};
constexpr PlaceId kReady{1};
constexpr PlaceId kFree{2};

Marking sample_marking(const Net& net) {
  Marking marking(net);
  marking.add(kCoded, std::array<std::int64_t, 2>{5, -1});
  marking.add(kCoded, std::array<std::int64_t, 4>{63, 1000, 0, 1'000'000}, 2);
  marking.add(kFree, {}, 7);
  marking.add(kFree, {});
  marking.done_count = 300;
  return marking;
}

std::string error_of(const Net& net, std::string_view bytes) {
  try {
    load_marking(net, bytes);
  } catch (const Error& error) {
    return error.code() + " " + error.what();
  }
  return "no error";
}

template <typename Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code() + " " + error.what();
  }
  return "no error";
}

// "LPNM", version 1, no done count, then the rest.
std::string file(std::string_view rest) {
  return std::string("LPNM\x01\x00", 6) + std::string(rest);
}

}  // namespace

TEST_CASE("marking: tokens are kept in order, row by row") {
  const Net net = sample_net();
  const Marking marking = sample_marking(net);
  CHECK(marking[kCoded].count == 3);
  CHECK(marking[kCoded].values == std::vector<std::int64_t>{5, -1, 63, 1000, 0, 1'000'000});
  CHECK(marking[kReady].count == 0);
  CHECK(marking[kFree].count == 8);
  CHECK(marking[kFree].values.empty());
}

TEST_CASE("marking: what does not fit a place is refused") {
  const Net net = sample_net();
  Marking marking(net);
  const std::array<std::int64_t, 3> three{1, 2, 3};
  const std::array<std::int64_t, 4> outside{1, 2, 64, 3};
  CHECK(error_of([&] { marking.add(kCoded, three); }) ==
        "E-marking place 'coded': 1 tokens of 2 fields (nonzero, plane) need 2 values, got 3");
  CHECK(error_of([&] { marking.add(kFree, three, 3); }) ==
        "E-marking place 'free': 3 tokens of 0 fields (no fields) need 0 values, got 3");
  CHECK(error_of([&] { marking.add(kCoded, outside, 2); }) ==
        "E-range place 'coded', token 1: nonzero = 64 is outside its range 0..63");
  CHECK(error_of([&] { marking.add(PlaceId{3}, {}); }) ==
        "E-marking no place number 3; the net has 3");
  marking.add(kFree, {}, 5);
  CHECK(error_of([&] { marking.add(kFree, {}, static_cast<std::uint64_t>(kMaxTokens) - 4); }) ==
        "E-marking place 'free' would hold 5 + 2147483644 tokens; at most 2147483648");
  // Nothing of a refused call stays.
  CHECK(marking[kCoded].count == 0);
  CHECK(marking[kFree].count == 5);
}

TEST_CASE("marking: a file gives back what was saved") {
  const Net net = sample_net();
  const Marking marking = sample_marking(net);
  const std::string bytes = save_marking(net, marking);
  const Marking copy = load_marking(net, bytes);
  CHECK(copy[kCoded].values == marking[kCoded].values);
  CHECK(copy[kFree].count == 8);
  CHECK(copy.done_count == 300);
  CHECK(save_marking(net, copy) == bytes);
  const Marking empty = load_marking(net, save_marking(net, Marking(net)));
  CHECK(!empty.done_count.has_value());
  CHECK(empty[kCoded].count == 0);
}

TEST_CASE("marking: the layout of the file is pinned") {
  const Net net = sample_net();
  Marking marking(net);
  marking.add(kCoded, std::array<std::int64_t, 6>{1, 100, 2, 101, 3, 102}, 3);
  marking.add(kFree, {}, 200);
  const std::string expected = file(
                                   "\x02"  // two places with tokens
                                   "\x05"
                                   "coded"
                                   "\x02"  // name, two fields
                                   "\x07"
                                   "nonzero"
                                   "\x05"
                                   "plane"                               //
                                   "\x03") +                             // three tokens
                               std::string("\x00\x02\x04\x06", 4) +      // 1 2 3 as they are
                               std::string("\x01\xc8\x01\x02\x02", 5) +  // 100 +1 +1
                               std::string(
                                   "\x04"
                                   "free"
                                   "\x00\xc8\x01",
                                   8);  // 200 tokens
  CHECK(save_marking(net, marking) == expected);
  CHECK(load_marking(net, expected)[kCoded].values == marking[kCoded].values);
}

TEST_CASE("marking: every value survives, in both codings") {
  const Net net = sample_net("(a, b)");
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    Marking marking(net);
    std::vector<std::int64_t> values;
    std::int64_t slow = static_cast<std::int64_t>(random());
    for (int k = 0; k < 50; ++k) {
      values.push_back(static_cast<std::int64_t>(random() >> (random() % 64)));
      slow = static_cast<std::int64_t>(static_cast<std::uint64_t>(slow) + random() % 9);
      values.push_back(slow);
    }
    values[10] = std::numeric_limits<std::int64_t>::min();
    values[12] = std::numeric_limits<std::int64_t>::max();
    marking.add(kReady, values, 50);
    CHECK(load_marking(net, save_marking(net, marking))[kReady].values == values);
  }
}

TEST_CASE("marking: times of arrival survive, and only then is the version another") {
  const Net net = sample_net();
  Marking marking(net);
  marking.add(kFree, {}, 2);
  CHECK(save_marking(net, marking)[4] == 1);
  marking.add(kFree, {}, 3, 40);
  marking.add(kFree, {}, std::array<Time, 3>{40, 41, 1000});
  marking.add(kCoded, std::array<std::int64_t, 4>{1, 2, 3, 4}, std::array<Time, 2>{0, 0});
  CHECK(marking[kCoded].times.empty());
  CHECK(marking[kFree].times == std::vector<Time>{0, 0, 40, 40, 40, 40, 41, 1000});
  CHECK(marking[kFree].present() == 2);
  CHECK(marking[kCoded].present() == 2);
  const std::string bytes = save_marking(net, marking);
  CHECK(bytes[4] == 2);
  const Marking again = load_marking(net, bytes);
  CHECK(again[kFree].times == marking[kFree].times);
  CHECK(again[kCoded].values == marking[kCoded].values);
  CHECK(again[kCoded].times.empty());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(error_of(net, std::string_view(bytes).substr(0, size)) != "");
  }
}

TEST_CASE("marking: every illegal file has its message") {
  const Net net = sample_net();
  CHECK(error_of(net, "") ==
        "E-marking-file byte 0: not a marking file: it does not begin with \"LPNM\"");
  CHECK(error_of(net, "LPNX\x01") ==
        "E-marking-file byte 0: not a marking file: it does not begin with \"LPNM\"");
  CHECK(
      error_of(net, "LPNM\x03") ==
      "E-marking-file byte 4: the file has format version 3, this program reads versions 1 and 2");
  CHECK(error_of(net, "LPNM\x01\x07") == "E-marking-file byte 5: unknown flags 7");
  CHECK(error_of(net, "LPNM\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") ==
        "E-marking-file byte 6: the done count does not fit in 63 bits");
  CHECK(error_of(net, file("\x01")) ==
        "E-marking-file byte 7: the file is cut off in a place's name");
  CHECK(error_of(net, file("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02")) ==
        "E-marking-file byte 6: the number of places does not fit in 64 bits");
  CHECK(error_of(net, file("\x01\x03"
                           "abc")) ==
        "E-marking-file byte 7: net 'sample' has no place 'abc' (or the file has it twice)");
  CHECK(error_of(net, file("\x01\x03"
                           "a\nc")) == "E-marking-file byte 8: a place's name is not a name");
  CHECK(error_of(net, file("\x01\xff\x7f")) ==
        "E-marking-file byte 7: a place's name has 16383 characters (at most 200)");
  CHECK(error_of(net, file("\x01\x05"
                           "coded"
                           "\x01\x01"
                           "a")) ==
        "E-marking-file byte 13: place 'coded' has other fields in the file than in net 'sample', "
        "where it has: nonzero, plane");
  const std::string coded =
      "\x01\x05"
      "coded"
      "\x02\x07"
      "nonzero"
      "\x05"
      "plane";
  CHECK(error_of(net, file(coded + "\xff\xff\xff\xff\x7f")) ==
        "E-marking-file byte 28: place 'coded' has 34359738367 tokens (at most 2147483648)");
  CHECK(error_of(net, file(coded + "\xff\xff\xff\x7f")) ==
        "E-marking-file byte 28: place 'coded' has 268435455 tokens of 2 fields, but only 0 bytes "
        "are left: the file is cut off");
  CHECK(error_of(net, file(coded + "\x01\x02\x02\x02\x02")) ==
        "E-marking-file byte 29: unknown coding 2 of a column");
  CHECK(error_of(net, file(coded + std::string("\x01\x00\x80\x01\x00\x00", 6))) ==
        "E-range place 'coded', token 0: nonzero = 64 is outside its range 0..63");
  CHECK(error_of(net, file(coded + std::string("\x01\x00\x02\x00\x02\x02", 6))) ==
        "E-marking-file byte 33: 1 bytes after the last place");
  CHECK(error_of(net, file("\x02\x04"
                           "free" +
                           std::string("\x00\x01", 2) +
                           "\x04"
                           "free")) ==
        "E-marking-file byte 14: net 'sample' has no place 'free' (or the file has it twice)");
}

TEST_CASE("marking: a cut file names its byte") {
  const Net net = sample_net();
  const std::string bytes = save_marking(net, sample_marking(net));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const std::string error = error_of(net, std::string_view(bytes).substr(0, size));
    REQUIRE(error.starts_with("E-marking-file byte "));
    REQUIRE(std::stoul(error.substr(20)) <= size);
  }
}

TEST_CASE("marking: flipped bytes give an error or another marking") {
  const Net net = sample_net();
  const std::string bytes = save_marking(net, sample_marking(net));
  std::mt19937 random(20261121);
  for (int round = 0; round < 20000; ++round) {
    std::string flipped = bytes;
    for (std::uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      flipped[random() % flipped.size()] = static_cast<char>(random());
    }
    std::string saved;
    try {
      saved = save_marking(net, load_marking(net, flipped));
    } catch (const Error& error) {
      REQUIRE((error.code() == "E-marking-file" || error.code() == "E-range" ||
               error.code() == "E-marking"));  // times of arrival
      continue;
    }
    REQUIRE(save_marking(net, load_marking(net, saved)) == saved);
  }
}

TEST_CASE("marking: what arrives at 1 is not present at the start") {
  const Net net = sample_net();
  Marking marking(net);
  marking.add(kFree, {}, 2);
  marking.add(kFree, {}, 1, 1);
  CHECK(marking[kFree].present() == 2);
}
