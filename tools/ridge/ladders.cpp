#include "ladders.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number.h"
#include "layout.h"
#include "modelled.h"
#include "process.h"
#include "suggest.h"
#include "verb.h"

namespace ridge::tools {

using nlohmann::json;

std::string ladders_program() { return layout().programs / "ridge_ladders"; }

Command ladders_command(const Target& target, const ladders::Request& request) {
  return {.program = ladders_program(),
          .arguments = words_of(request),
          .environment = environment_of(target)};
}

int exit_code_of(const ladders::Failure& failure) {
  return failure.code == kUsage || failure.code == kMissing ? failure.code : int(kCudaError);
}

Status ask_ladders(const Target& target, const ladders::Request& request,
                   const std::function<void(const ladders::Answer&)>& heard) {
  Status said;
  Command command = ladders_command(target, request);
  if (target.software &&
      (request.command == ladders::Command::measure || request.command == ladders::Command::tune))
    ask_for_registers(command.environment);
  command.line = [&](const std::string& line) {
    const auto answer = ladders::read_answer(line);
    if (!answer) return;
    if (const auto* failure = std::get_if<ladders::Failure>(&*answer))
      said = Error{exit_code_of(*failure), failure->message};
    else heard(*answer);
  };
  const Outcome outcome = run(command);
  if (!said) return said;
  if (outcome.start_error != 0)
    return Error{kMissing, fmt::format("{} does not start ({}); ./ridge build makes it",
                                       command.program, std::strerror(outcome.start_error))};
  if (outcome.signal == SIGINT) return Error{kInterrupted, "interrupted"};
  if (outcome.signal != 0)
    return Error{kCudaError, fmt::format("the ladders died of signal {} ({})", outcome.signal,
                                         strsignal(outcome.signal))};
  if (outcome.exit_code != 0)
    return Error{outcome.exit_code, fmt::format("the ladders ended with {}", outcome.exit_code)};
  return Status::ok();
}

namespace {

std::vector<std::string> names_in(const json& list) {
  std::vector<std::string> names;
  for (const json& entry : list)
    names.push_back(entry.is_string() ? entry.get<std::string>()
                                      : entry["name"].get<std::string>());
  return names;
}

std::vector<std::string> names_on_request(const json& tensors) {
  std::vector<std::string> names;
  for (const json& t : tensors)
    if (t.contains("on_request")) names.push_back(t["name"]);
  return names;
}

OperatorEntry operator_from(const json& op) {
  return {.name = op["name"],
          .formula = op["formula"],
          .formats = op["formats"],
          .dimensions = names_in(op["dimensions"]),
          .parameters = names_in(op["parameters"]),
          .distributions = op.value("distributions", std::vector<std::string>()),
          .aliases = op.value("aliases", std::vector<std::string>()),
          .on_request = names_on_request(op["tensors"]),
          .json = op};
}

}  // namespace

Expected<Catalogue> Catalogue::ask(const Target& target) {
  Catalogue catalogue;
  const ladders::Request everything;  // lists all
  const Status asked = ask_ladders(target, everything, [&](const ladders::Answer& answer) {
    const auto* listed = std::get_if<ladders::FamilyAnswer>(&answer);
    if (!listed) return;
    FamilyEntry family = {
        .name = listed->family, .rungs = {}, .rivals = listed->rivals, .operators = {}};
    for (const ladders::RungListed& rung : listed->rungs)
      family.rungs.push_back({rung.name, rung.idea});
    for (const json& op : listed->operators) family.operators.push_back(operator_from(op));
    catalogue.families_.push_back(std::move(family));
  });
  if (!asked) return asked.error();
  return catalogue;
}

Expected<Catalogue::Found> Catalogue::find(const std::string& name) const {
  const auto look = [&](auto matches) -> Found {
    for (const FamilyEntry& family : families_)
      for (const OperatorEntry& op : family.operators)
        if (matches(family, op)) return {&family, &op};
    return {};
  };
  if (const Found f = look([&](const auto&, const auto& op) { return op.name == name; }); f.op)
    return f;
  if (const Found f = look(
          [&](const auto&, const auto& op) { return std::ranges::count(op.aliases, name) > 0; });
      f.op)
    return f;
  if (const Found f = look([&](const auto& family, const auto&) { return family.name == name; });
      f.op)
    return f;
  std::vector<std::string> names;
  for (const FamilyEntry& family : families_) {
    names.push_back(family.name);
    for (const OperatorEntry& op : family.operators) names.push_back(op.name);
  }
  return Error{kUsage, fmt::format("there is no operator '{}'{} `ridge list` shows them.", name,
                                   did_you_mean(name, names))};
}

Expected<std::string> Catalogue::rung_name(const std::string& op, const std::string& wanted) const {
  const auto found = find(op);
  if (!found) return found.error();
  const size_t digits = wanted.find_first_not_of("0123456789");
  const bool is_numbered = digits != wanted.npos && digits > 0 && wanted[digits] == '_';
  std::vector<std::string> rungs;
  for (const auto& [rung, idea] : found->family->rungs) {
    if (rung == wanted || (is_numbered && rung == wanted.substr(digits + 1))) return rung;
    rungs.push_back(rung);
  }
  return Error{kUsage, fmt::format("{} has no rung '{}'{} Its rungs are {}.", op, wanted,
                                   did_you_mean(wanted, rungs), fmt::join(rungs, ", "))};
}

void CaseFlags::add_to(CommandLine& line) {
  line.add_option("--shape", shape, "NxM", "set the sizes, as in 8192x50257");
  line.add_option("--dtype", dtype, "NAME",
                  "set the format: f32, bf16, …; or of single tensors: a=bf16,b=e4m3");
  line.add_option("--distribution", distribution, "NAME",
                  "fill the inputs in this way; `ridge list OPERATOR` names the ways");
  line.add_option("--with", with, "NAMES",
                  "pass these optional tensors, as in bias,amax, or none; `ridge list OPERATOR` "
                  "names them");
  line.add_option("--transposed", transposed, "NAMES",
                  "let these matrices lie transposed in memory, as in a,b");
  line.add_option("--seed", seed, "N", "make the inputs from this seed");
  line.add_settings(settings);
}

bool CaseFlags::empty() const {
  return shape.empty() && dtype.empty() && distribution.empty() && with.empty() &&
         transposed.empty() && settings.empty();
}

Status CaseFlags::refused(const CommandLine& line) const {
  if (!settings.empty()) {
    const std::string flag = "--" + settings.front().first;
    return Error{kUsage,
                 fmt::format("there is no flag '{}'{} Sizes and parameters need an operator "
                             "that has them; --help lists the other flags.",
                             flag, did_you_mean(flag, line.flag_names()))};
  }
  if (!empty())
    return Error{kUsage,
                 "--shape, --dtype, --distribution, --with and --transposed belong to an operator"};
  return Status::ok();
}

namespace {

// What is not known, what there is, and what comes nearest.
Error unknown(const std::string& what, const std::string& word,
              const std::vector<std::string>& known) {
  return Error{kUsage, fmt::format("{} '{}'{} It has {}.", what, word, did_you_mean(word, known),
                                   fmt::join(known, ", "))};
}

// "bf16", or "a=bf16" of one tensor.
Status check_format(const std::string& text, const OperatorEntry& op) {
  const size_t equals = text.find('=');
  std::vector<std::string> formats = op.formats;
  if (equals != text.npos) {
    const std::string name = text.substr(0, equals);
    const json* tensor = nullptr;
    for (const json& t : op.json["tensors"])
      if (t["name"] == name) tensor = &t;
    if (!tensor) return unknown(op.name + " has no tensor", name, names_in(op.json["tensors"]));
    if (!tensor->contains("formats"))
      return Error{kUsage, fmt::format("the format of {} follows from that of {}", name,
                                       tensor->value("like", "another"))};
    formats = (*tensor)["formats"].get<std::vector<std::string>>();
  }
  const std::string word = equals == text.npos ? text : text.substr(equals + 1);
  const auto dtype = parse_dtype(word);
  if (dtype && std::ranges::count(formats, name_of(*dtype))) return Status::ok();
  return unknown(op.name + " has no format", word, formats);
}

}  // namespace

Expected<ladders::Request> CaseFlags::request_for(const OperatorEntry& op) const {
  ladders::Request request;
  request.operators = {op.name};
  request.shape = shape;
  request.distribution = distribution;
  if (!seed.empty()) {
    const auto number = whole_number(seed, "--seed");
    if (!number) return number.error();
    request.seed = *number;
  }
  std::stringstream formats(dtype);
  for (std::string part; std::getline(formats, part, ',');) {
    if (const Status known = check_format(part, op); !known) return known.error();
    request.dtypes.push_back(part);
  }
  if (!distribution.empty() && op.distributions.empty())
    return Error{kUsage, op.name + " has no distributions to choose from"};
  if (!distribution.empty() && !std::ranges::count(op.distributions, distribution))
    return unknown(op.name + " has no distribution", distribution, op.distributions);
  std::stringstream tensors(with == ladders::kNoneWith ? "" : with);
  if (with == ladders::kNoneWith) request.with = {with};
  for (std::string name; std::getline(tensors, name, ',');) {
    if (op.on_request.empty())
      return Error{kUsage, op.name + " has no optional tensors to choose from"};
    if (!std::ranges::count(op.on_request, name))
      return unknown(op.name + " has no optional tensor", name, op.on_request);
    request.with.push_back(name);
  }
  std::stringstream matrices(transposed);
  for (std::string name; std::getline(matrices, name, ',');) request.transposed.push_back(name);
  for (const auto& [name, value] : settings) {
    const bool is_size = std::ranges::count(op.dimensions, name) > 0;
    if (!is_size && std::ranges::count(op.parameters, name) == 0) {
      std::vector<std::string> known = op.dimensions;
      for (const std::string& parameter : op.parameters)
        if (!std::ranges::count(known, parameter)) known.push_back(parameter);
      return unknown(op.name + " has no size or parameter", name, known);
    }
    if (value.empty()) return Error{kUsage, fmt::format("--{} wants a value", name)};
    (is_size ? request.sizes : request.values).emplace_back(name, value);
  }
  return request;
}

}  // namespace ridge::tools
