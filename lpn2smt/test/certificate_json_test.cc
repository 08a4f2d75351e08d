// What a C++ program does with a proof: bound a net, keep the certificate as text, and let another
// program check it.
#include "lpn/smt/certificate_json.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/smt/search.h"
#include "small_net.h"

using namespace lpn;
using namespace lpn::smt;

namespace {

std::string refusal(const std::string& text) {
  try {
    parse_certificate(text, true);
  } catch (const Error& error) {
    CHECK(error.code() == "E-certificate");
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("certificates as text: proved here, checked there") {
  std::string text;
  {
    const SmallNet small;
    const Partition parts = small.parts();
    REQUIRE(parts.complete);
    REQUIRE(parts.classes.size() == 1);
    std::vector<const Path*> paths{&parts.classes[0].paths.at(0)};
    const BoundResult most = maximize(parts.space, latencies(paths));
    REQUIRE(most.exact);
    CHECK(*most.proved == 3 + 9);
    text = to_json(most.certificates.at(0));
  }
  // Whoever checks executes the net again; of the search only the text is left.
  const SmallNet small;
  const Partition parts = small.parts();
  std::vector<const Path*> paths{&parts.classes[0].paths.at(0)};
  const Target target = latencies(paths)[0];
  PathCertificate read = parse_certificate(text, true);
  CHECK(read.bound == 12);
  CHECK(check(parts.space, target, read) == std::nullopt);
  CHECK(to_json(read) == text);

  read.bound = 11;
  CHECK(check(parts.space, target, read));
  read = parse_certificate(text, true);
  read.steps.clear();
  CHECK(check(parts.space, target, read) == "a box is left without a step");
  CHECK(check(parts.space, target, parse_certificate(text, false)));  // no proof of the least
}

TEST_CASE("certificates as text: the format") {
  PathCertificate certificate{.path = 2, .maximum = true, .bound = -7, .steps = {}};
  Step split, relaxed, sum, solver;
  split.kind = Step::Kind::kSplit;
  split.unit = 1, split.tuple = 5;
  relaxed.denominator = 1024;
  relaxed.multipliers = {0, 3};
  relaxed.budget = 1;
  relaxed.quantum = 4;
  relaxed.chains = {{1000, {0, 2}}, {24, {}}};
  sum.kind = Step::Kind::kRelaxation;
  sum.parts.resize(2);
  sum.parts[0] = {.instant = InstantId{4},
                  .weight = 2,
                  .multipliers = {9},
                  .budget = 0,
                  .tolls = {{InstantId{3}, {512, {1, 0}}}},
                  .behind = {}};
  sum.parts[1].behind = InstantId{8};
  solver.kind = Step::Kind::kSolver;
  solver.threshold = 12;
  solver.smtlib = "(check-sat)\n";
  certificate.steps = {split, relaxed, sum, solver};
  certificate.steps.emplace_back().kind = Step::Kind::kPoint;
  certificate.steps.emplace_back().kind = Step::Kind::kNoInput;
  const std::string text = to_json(certificate);
  CHECK(text ==
        R"({"path":2,"bound":-7,"steps":[{"kind":"split","unit":1,"tuple":5},)"
        R"({"kind":"relaxation","denominator":1024,"multipliers":[0,3],"budget":1,"quantum":4,)"
        R"("chains":[[1000,[0,2]],[24,[]]]},)"
        R"({"kind":"relaxation","denominator":1,"multipliers":[],"parts":[)"
        R"({"instant":4,"weight":2,"multipliers":[9],"budget":0,"tolls":[[3,512,[1,0]]]},)"
        R"({"instant":0,"weight":0,"multipliers":[],"behind":8}]},)"
        R"({"kind":"solver","threshold":12,"smtlib":"(check-sat)\n"},{"kind":"point"},)"
        R"({"kind":"no input","denominator":1,"multipliers":[]}]})");
  CHECK(parse_certificate(text, true) == certificate);
}

TEST_CASE("certificates as text: what is damaged is refused, with the reason") {
  const auto why = [](const std::string& reason) {
    return "this is no certificate as `lpn smt --certificate` writes it (" + reason + ")";
  };
  CHECK(refusal("{}") == why("'path' is missing"));
  CHECK(refusal("[]") == why("where 'path' should be is no object"));
  CHECK(refusal(R"({"path":0,"bound":1})") == why("'steps' is missing"));
  CHECK(refusal(R"({"path":0,"bound":1.5,"steps":[]})") ==
        why("'bound' is no whole number from -9223372036854775808 to 9223372036854775807"));
  CHECK(refusal(R"({"path":0,"bound":true,"steps":[]})") ==
        why("'bound' is no whole number from -9223372036854775808 to 9223372036854775807"));
  CHECK(refusal(R"({"path":0,"bound":9223372036854775808,"steps":[]})") ==
        why("'bound' is no whole number from -9223372036854775808 to 9223372036854775807"));
  CHECK(refusal(R"({"path":0,"bound":1,"steps":{}})") == why("'steps' is no list"));
  CHECK(refusal(R"({"path":0,"bound":1,"steps":[{}]})") == why("'kind' is missing"));
  CHECK(refusal(R"({"path":0,"bound":1,"steps":[{"kind":"guess"}]})") ==
        why("no kind of step 'guess'"));
  CHECK(refusal(R"({"path":0,"bound":1,"steps":[{"kind":"split","unit":-1,"tuple":0}]})") ==
        why("'unit' is no whole number from 0 to 4294967295"));
  CHECK(refusal(R"({"path":0,"bound":1,"steps":[{"kind":"relaxation","chains":[[1]]}]})") ==
        why("an entry of 'chains' does not have 2 parts"));
  CHECK(refusal(R"({"path":0,"bound":1,"steps":[)").find("parse error") != std::string::npos);
}
