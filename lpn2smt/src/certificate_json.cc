#include "lpn/smt/certificate_json.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "lpn/base/error.h"

namespace lpn::smt {
namespace {

using Json = nlohmann::ordered_json;  // members stay in the order of writing

constexpr std::pair<Step::Kind, const char*> kKinds[] = {
    {Step::Kind::kSplit, "split"},   {Step::Kind::kNoInput, "no input"},
    {Step::Kind::kPoint, "point"},   {Step::Kind::kRelaxation, "relaxation"},
    {Step::Kind::kSolver, "solver"},
};

// ---- writing ---------------------------------------------------------------------------------

Json written(const Step::Part& part) {
  Json json;
  json["instant"] = static_cast<std::uint32_t>(part.instant);
  json["weight"] = part.weight;
  json["multipliers"] = part.multipliers;
  if (part.budget) json["budget"] = *part.budget;
  if (part.quantum != 1) json["quantum"] = part.quantum;
  for (const Step::Toll& toll : part.tolls) {
    json["tolls"].push_back(Json::array(
        {static_cast<std::uint32_t>(toll.instant), toll.chain.weight, toll.chain.arcs}));
  }
  if (part.behind) json["behind"] = static_cast<std::uint32_t>(*part.behind);
  return json;
}

Json written(const Step& step) {
  Json json;
  for (const auto& [kind, name] : kKinds) {
    if (kind == step.kind) json["kind"] = name;
  }
  switch (step.kind) {
    case Step::Kind::kSplit:
      json["unit"] = step.unit;
      json["tuple"] = step.tuple;
      break;
    case Step::Kind::kPoint: break;
    case Step::Kind::kSolver:
      json["threshold"] = step.threshold;
      json["smtlib"] = step.smtlib;
      break;
    case Step::Kind::kNoInput:
    case Step::Kind::kRelaxation:
      json["denominator"] = step.denominator;
      json["multipliers"] = step.multipliers;
      if (step.budget) json["budget"] = *step.budget;
      if (step.quantum != 1) json["quantum"] = step.quantum;
      for (const Step::Part& part : step.parts) json["parts"].push_back(written(part));
      for (const Step::Chain& chain : step.chains) {
        json["chains"].push_back(Json::array({chain.weight, chain.arcs}));
      }
      break;
  }
  return json;
}

// ---- reading ---------------------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& why) {
  throw Error("E-certificate",
              "this is no certificate as `lpn smt --certificate` writes it (" + why + ")");
}

// Whole numbers only: the library itself would convert fractions, signs and true.
void read(const Json& json, const char* name, std::integral auto& value) {
  using Value = std::remove_reference_t<decltype(value)>;
  using Limits = std::numeric_limits<Value>;
  const auto fits = [&](auto given) {
    if (std::in_range<Value>(given)) value = static_cast<Value>(given);
    return std::in_range<Value>(given);
  };
  // As what it was read: 2**63 asked for as a signed number would be -2**63.
  if (json.is_number_unsigned()) {
    if (fits(json.get<std::uint64_t>())) return;
  } else if (json.is_number_integer() && fits(json.get<std::int64_t>())) {
    return;
  }
  refuse(std::string("'") + name + "' is no whole number from " + std::to_string(Limits::min()) +
         " to " + std::to_string(Limits::max()));
}

void read(const Json& json, const char* name, InstantId& value) {
  std::uint32_t number = 0;
  read(json, name, number);
  value = static_cast<InstantId>(number);
}

void read(const Json& json, const char* name, std::string& value) {
  if (!json.is_string()) refuse(std::string("'") + name + "' is no text");
  value = json.get<std::string>();
}

const Json& list(const Json& json, const char* name) {
  if (!json.is_array()) refuse(std::string("'") + name + "' is no list");
  return json;
}

// The parts of a list of so many.
const Json& tuple(const Json& json, const char* name, std::size_t size) {
  if (list(json, name).size() != size) {
    refuse(std::string("an entry of '") + name + "' does not have " + std::to_string(size) +
           " parts");
  }
  return json;
}

void read(const Json& json, const char* name, Step::Chain& chain);
void read(const Json& json, const char* name, Step::Toll& toll);
void read(const Json& json, const char* name, Step::Part& part);
void read(const Json& json, const char* name, Step& step);

template <typename T>
void read(const Json& json, const char* name, std::vector<T>& values) {
  for (const Json& each : list(json, name)) read(each, name, values.emplace_back());
}
template <typename T>
void read(const Json& json, const char* name, std::optional<T>& value) {
  read(json, name, value.emplace());
}

// A member of an object.
template <typename T>
void take(const Json& object, const char* name, T& value, bool required = false) {
  if (!object.is_object()) refuse(std::string("where '") + name + "' should be is no object");
  const auto found = object.find(name);
  if (found != object.end()) return read(*found, name, value);
  if (required) refuse(std::string("'") + name + "' is missing");
}

void read(const Json& json, const char* name, Step::Chain& chain) {
  tuple(json, name, 2);
  read(json[0], name, chain.weight);
  read(json[1], name, chain.arcs);
}

void read(const Json& json, const char* name, Step::Toll& toll) {
  tuple(json, name, 3);
  read(json[0], name, toll.instant);
  read(json[1], name, toll.chain.weight);
  read(json[2], name, toll.chain.arcs);
}

void read(const Json& json, const char*, Step::Part& part) {
  take(json, "instant", part.instant, true);
  take(json, "weight", part.weight);
  take(json, "multipliers", part.multipliers);
  take(json, "budget", part.budget);
  take(json, "quantum", part.quantum);
  take(json, "tolls", part.tolls);
  take(json, "behind", part.behind);
}

void read(const Json& json, const char*, Step& step) {
  std::string kind;
  take(json, "kind", kind, true);
  const auto known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const auto& each) { return each.second == kind; });
  if (known == std::end(kKinds)) refuse("no kind of step '" + kind + "'");
  step.kind = known->first;
  take(json, "unit", step.unit);
  take(json, "tuple", step.tuple);
  take(json, "denominator", step.denominator);
  take(json, "multipliers", step.multipliers);
  take(json, "budget", step.budget);
  take(json, "quantum", step.quantum);
  take(json, "parts", step.parts);
  take(json, "chains", step.chains);
  take(json, "threshold", step.threshold);
  take(json, "smtlib", step.smtlib);
}

}  // namespace

std::string to_json(const PathCertificate& certificate) {
  Json json;
  json["path"] = certificate.path;
  json["bound"] = certificate.bound;
  json["steps"] = Json::array();
  for (const Step& step : certificate.steps) json["steps"].push_back(written(step));
  return json.dump();
}

PathCertificate parse_certificate(std::string_view text, bool maximum) {
  PathCertificate certificate;
  certificate.maximum = maximum;
  try {
    const Json json = Json::parse(text);
    take(json, "path", certificate.path, true);
    take(json, "bound", certificate.bound, true);
    take(json, "steps", certificate.steps, true);
  } catch (const Json::exception& error) {
    refuse(error.what());
  }
  return certificate;
}

}  // namespace lpn::smt
