// ridge explain OPERATOR: which rung the library takes for a shape, and why not the others.
#include <fmt/format.h>

#include <algorithm>

#include "families.h"
#include "flags.h"
#include "ladders.h"
#include "record.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

std::string why_of(const ladders::CandidateRung& candidate, bool taken) {
  if (!candidate.rejected.empty()) return "cannot: " + candidate.rejected;
  if (candidate.lesson) return "a lesson";
  return taken ? "least" : "";
}

void print_choice(const ladders::ChoiceAnswer& choice, const Target& target) {
  const ladders::CaseAnswer& c = choice.of_case;
  fmt::print("{} {} {}{} on {}{}\n\n", bold(c.operator_), c.shape, c.dtype,
             c.settings.empty() ? "" : " " + c.settings, target.name,
             target.software ? " (software GPU)" : "");
  fmt::print("  moves {} at least, {:.1f} µs at the pins' bandwidth\n\n",
             bytes(static_cast<long long>(choice.bytes)), choice.floor_us);
  const bool has_asked = std::ranges::any_of(
      choice.candidates, [](const auto& rung) { return bool(rung.modelled_us); });
  std::vector<std::vector<std::string>> rows = {
      {"", "rung", "predicted", has_asked ? "modelled" : "", "", "the idea"}};
  const auto time = [](const std::optional<double>& us) {
    return us ? fmt::format("{:.1f} µs", *us) : "";
  };
  for (const ladders::CandidateRung& rung : choice.candidates) {
    const bool taken = rung.rung == choice.chosen;
    rows.push_back({taken ? "→" : "", taken ? green(rung.rung) : rung.rung, time(rung.predicted_us),
                    time(rung.modelled_us), why_of(rung, taken), rung.idea});
  }
  fmt::print(
      "{}",
      table(rows, {Align::left, Align::left, Align::right, Align::right, Align::left, Align::left},
            "  "));
  if (has_asked)
    fmt::print(
        "\n  On the software GPU, the model of time decides among rungs whose predicted times are "
        "close.\n");
  if (!choice.tuned_by.empty())
    fmt::print("\n  Constants that were tuned here: {}\n", choice.tuned_by);
  if (choice.launches == 0) fmt::print("\n  Nothing to do: no element is written.\n");
  else if (choice.chosen.empty()) fmt::print("\n  No rung can do this.\n");
  else if (choice.study)
    fmt::print("\n  A study: all its rungs are lessons, of which the library takes the last.\n");
  if (!choice.handed_to.empty())
    fmt::print("\n  The call is handed over to the kernels of {}.\n", choice.handed_to);
  if (choice.launches > 1) fmt::print("\n  {} launches; this is the first.\n", choice.launches);
}

Expected<ladders::ChoiceAnswer> ask(const Target& target, const std::string& name,
                                    const CaseFlags& of_case, bool predicted) {
  const auto catalogue = Catalogue::ask(target);
  if (!catalogue) return catalogue.error();
  const auto found = catalogue->find(name);
  if (!found) return found.error();
  auto request = of_case.request_for(*found->op);
  if (!request) return request.error();
  if (const Status built = need_family(found->family->name, false); !built) return built.error();
  request->command = ladders::Command::choose;
  request->predicted = predicted;
  Progress progress(predicted || !target.software);
  progress.show("asking the model of time");
  ladders::ChoiceAnswer choice;
  const Status asked = ask_ladders(target, *request, [&](const ladders::Answer& answer) {
    if (const auto* heard = std::get_if<ladders::ChoiceAnswer>(&answer)) choice = *heard;
  });
  if (!asked) return asked.error();
  return choice;
}

int explain_main(const Arguments& arguments) {
  DeviceFlags flags;
  std::string name, json;
  CaseFlags of_case;
  CommandLine line("explain", "Says which rung the library takes for a shape, and why.");
  line.add_argument("OPERATOR", name, "a name from `ridge list`");
  of_case.add_to(line);
  bool predicted = false;
  line.add_flag("--predicted", predicted,
                "on the software GPU: show predicted times only, and do not ask the model of time");
  line.add_device(flags);
  line.add_json(json);
  if (const auto done = line.parse(arguments)) return *done;
  if (name.empty()) {
    complain(
        "explain what? usage: ridge explain OPERATOR [--rows N …] [--shape NxM] [--dtype NAME]");
    return kUsage;
  }
  const auto target = choose_target(flags);
  if (!target) return failed(target.error());
  const auto answer = ask(*target, name, of_case, predicted);
  Status status = answer ? Status::ok() : Status(answer.error());
  if (status && !json.empty()) status = write_record(*answer, json);
  if (status)
    for (const std::string& problem : answer->bad_tables) complain(problem);
  if (status && json != "-") print_choice(*answer, *target);
  if (status) return kFine;
  return failed(status);
}

}  // namespace

extern const Verb explain_verb = {
    .position = 60,
    .name = "explain",
    .summary = "say which rung the library takes for a shape, and why",
    .main = explain_main,
};

}  // namespace ridge::tools
