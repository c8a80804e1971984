#include "triton_beside.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "layout.h"
#include "python.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// "65536x1024" for {"rows", "cols"}: --rows 65536 --cols 1024. The product of all numbers that are
// left is what a last "n..." takes. Empty: they do not belong together.
Arguments size_flags(const std::string& shape, const std::vector<std::string>& names) {
  std::vector<int64_t> sizes;
  std::stringstream parts(shape);
  for (std::string part; std::getline(parts, part, 'x');) {
    if (sizes.size() == names.size() && !names.empty() && names.back().ends_with("..."))
      sizes.back() *= std::stoll(part);
    else sizes.push_back(std::stoll(part));
  }
  if (sizes.size() != names.size()) return {};
  Arguments flags;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i].substr(0, names[i].find('.'));
    flags.insert(flags.end(), {"--" + name, std::to_string(sizes[i])});
  }
  return flags;
}

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "it said nothing";
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
}

// "time_us 12.3", and on the software GPU also the ends of the band, the time as one of many
// launches in a graph, the bound, and a reason. `by_graph`: our rungs were too short for events.
void read_time(const std::string& output, Step& step, bool software, bool by_graph) {
  const size_t at = output.find("time_us ");
  if (at == std::string::npos) {
    step.failed = last_line(output);
    return;
  }
  std::stringstream words(output.substr(at + 8, output.find('\n', at) - at - 8));
  double us = 0, low = 0, high = 0, graph = 0;
  words >> us;
  if (!software) {
    step.us = {us};
    return;
  }
  words >> low >> high >> graph >> step.bound;
  std::getline(words >> std::ws, step.why);
  step.by_graph = by_graph && graph > 0 && us > 0;
  const double scale = step.by_graph ? graph / us : 1;
  step.modelled_us = us * scale;
  step.modelled_low_us = low * scale;
  step.modelled_high_us = high * scale;
}

}  // namespace

TritonBeside::TritonBeside(const Target& target, std::string python)
    : target_(target), python_(std::move(python)) {}

Expected<std::string> TritonBeside::run_program(const std::string& program,
                                                const Arguments& arguments) {
  ProgramRequest request;
  request.file = program;
  request.python = python_;
  request.arguments = arguments;
  auto command = python_command(request, target_);
  if (!command) return command.error();
  command->capture = true;
  const Outcome outcome = run(*command);
  if (outcome.ok()) return outcome.output;
  return Error{kMissing, last_line(outcome.output)};
}

Status TritonBeside::add_to(Climb& climb) {
  const fs::path folder = layout().triton_examples;
  std::ifstream file(folder / "beside.json");
  const json known = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!known.is_object())
    return Error{kMissing, fmt::format("Triton's kernels are not there: {}", folder.string())};
  if (!known.contains(climb.operator_) || known[climb.operator_]["dtype"] != climb.dtype)
    return Error{kUsage, fmt::format("no kernel of examples/triton does {} {}", climb.operator_,
                                     climb.dtype)};
  const json& entry = known[climb.operator_];
  const std::string program = folder / std::string(entry["program"]);
  const auto names = entry["sizes"].get<std::vector<std::string>>();
  const auto further = entry.value("flags", Arguments());
  Arguments flags = size_flags(climb.shape, names);
  if (flags.empty() || climb.asked != ladders::Asked{})
    return Error{kUsage, fmt::format("Triton's {} does not do this case", climb.operator_)};
  Step step;
  step.name = "triton";
  step.idea = fmt::format("examples/triton/{}", std::string(entry["program"]));
  step.rival = true;
  const std::string small = climb.verified_at.empty() ? climb.shape : climb.verified_at;
  Arguments small_flags = size_flags(small, names);
  for (Arguments* const all : {&flags, &small_flags})
    all->insert(all->end(), further.begin(), further.end());
  if (const auto checked = run_program(program, small_flags); !checked) {
    step.wrong = checked.error().message;
  } else {
    flags.push_back("--time");
    const auto timed = run_program(program, flags);
    const bool by_graph = std::ranges::any_of(climb.steps, &Step::by_graph);
    if (timed) read_time(*timed, step, target_.software, by_graph);
    else step.failed = timed.error().message;
  }
  climb.steps.push_back(std::move(step));
  return Status::ok();
}

}  // namespace ridge::tools
