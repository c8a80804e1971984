// ridge tune FAMILY: times the variants of its rungs on this device, fits the constants of their
// costs, and writes the table that the library's selection reads.
#include <chrono>

#include <fmt/format.h>

#include "families.h"
#include "flags.h"
#include "ladders.h"
#include "record.h"
#include "target.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

struct TuneFlags {
  std::string family, rung, dtype, shapes, seed, out, json;
  DeviceFlags device;
  bool again = false, quiet = false;
};

struct Tuned {
  ladders::TuneAnswer last;
  std::vector<ladders::TunedAnswer> variants;
  std::vector<ladders::Step> wrong;
};

std::string seconds_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return fmt::format("{:.0f} min", seconds / 60);
}

// "━━━──  312 of 960 candidates left, 40 s so far, about 20 s to go  bf16 1x256x512x64"
std::string progress_text(const ladders::TuneAnswer& at, double seconds) {
  const auto done = double(at.known + at.measured);
  const int64_t left = at.candidates - at.known - at.measured;
  std::string text = fmt::format("{} {} of {} candidates left, {} so far",
                                 bar(done / double(std::max<int64_t>(at.candidates, 1))), left,
                                 at.candidates, seconds_text(seconds));
  if (at.measured > 0)
    text +=
        fmt::format(", about {} to go", seconds_text(seconds / double(at.measured) * double(left)));
  return text + "  " + at.now;
}

void print_table(const Tuned& tuned) {
  std::vector<std::vector<std::string>> rows = {
      {"rung", "variant", "samples", "error", "9 of 10 under", "constants, µs"}};
  for (const ladders::TunedAnswer& one : tuned.variants) {
    std::string constants;
    for (const double c : one.constants) constants += fmt::format("{:.3f} ", c);
    const bool fitted = !one.constants.empty();
    rows.push_back({one.rung, one.variant, fmt::format("{}", one.samples),
                    fitted ? fmt::format("{:.1f} %", 100 * one.median_error) : "",
                    fitted ? fmt::format("{:.1f} %", 100 * one.p90_error) : "",
                    fitted ? constants : "too few samples"});
  }
  fmt::print(
      "{}",
      table(rows, {Align::left, Align::left, Align::right, Align::right, Align::right, Align::left},
            "  "));
}

Expected<ladders::Request> request_of(const Target& target, const TuneFlags& flags) {
  const auto catalogue = Catalogue::ask(target);
  if (!catalogue) return catalogue.error();
  const auto found = catalogue->find(flags.family);
  if (!found) return found.error();
  CaseFlags of_case;
  of_case.dtype = flags.dtype;
  of_case.seed = flags.seed;
  auto request = of_case.request_for(*found->op);
  if (!request) return request.error();
  if (!flags.rung.empty()) {
    const auto rung = catalogue->rung_name(flags.family, flags.rung);
    if (!rung) return rung.error();
    request->rung = *rung;
  }
  if (!flags.shapes.empty()) {
    const auto shapes = whole_number(flags.shapes, "--shapes", 1);
    if (!shapes) return shapes.error();
    request->shapes = *shapes;
  }
  request->command = ladders::Command::tune;
  request->table = flags.out;
  request->again = flags.again;
  if (const Status built = need_family(found->family->name, flags.quiet); !built)
    return built.error();
  return request;
}

Status tune_on(const Target& target, const ladders::Request& request, bool quiet, Tuned& tuned) {
  const auto start = std::chrono::steady_clock::now();
  Progress progress(quiet);
  progress.keep(fmt::format("on {}{}", target.name,
                            target.software ? " (software GPU): times are modelled" : ""));
  return ask_ladders(target, request, [&](const ladders::Answer& answer) {
    if (const auto* at = std::get_if<ladders::TuneAnswer>(&answer)) {
      tuned.last = *at;
      const auto now = std::chrono::steady_clock::now();
      progress.show(progress_text(*at, std::chrono::duration<double>(now - start).count()));
    } else if (const auto* told = std::get_if<ladders::StepAnswer>(&answer)) {
      tuned.wrong.push_back(told->step);
      progress.keep(
          fmt::format("{} is wrong and gets no constants: {}", told->step.name, told->step.wrong));
    } else if (const auto* one = std::get_if<ladders::TunedAnswer>(&answer)) {
      tuned.variants.push_back(*one);
    }
  });
}

void say_what_is_kept(const Tuned& tuned, bool interrupted) {
  const ladders::TuneAnswer& last = tuned.last;
  complain(fmt::format("{} measured, {} known before, {} left; kept in {}", last.measured,
                       last.known, last.candidates - last.known - last.measured, last.file));
  if (interrupted) complain("the same command goes on from there");
}

int tune_main(const Arguments& arguments) {
  TuneFlags flags;
  CommandLine line("tune",
                   "Times the variants of a family's rungs on this device and writes the constants "
                   "that selection predicts with.");
  line.add_argument("FAMILY", flags.family, "a name from `ridge list`, such as gemm");
  line.add_option("--rung", flags.rung, "NAME", "tune this rung only");
  line.add_option("--dtype", flags.dtype, "NAME", "time products of this format only");
  line.add_option("--shapes", flags.shapes, "N",
                  "draw N shapes for each format and transposition (default: 16)");
  line.add_option("--seed", flags.seed, "N", "draw the shapes from this seed (default: 1)");
  line.add_option("--out", flags.out, "FILE",
                  "write the table to this file; the library reads only the usual one");
  line.add_flag("--again", flags.again, "forget what the table has, and measure everything anew");
  line.add_device(flags.device);
  line.add_json(flags.json);
  line.add_quiet(flags.quiet);
  line.add_footer(
      "What was measured stays in the table: after Ctrl-C the same command goes on, and other "
      "seeds add to it. The table is $XDG_CONFIG_HOME/ridge/tuning/GPU/FAMILY.json, or lies below "
      "~/.config.");
  if (const auto done = line.parse(arguments)) return *done;
  if (flags.family.empty()) {
    complain("tune what? usage: ridge tune FAMILY [--shapes N] [--rung NAME] [--again]");
    return kUsage;
  }
  if (const Status fine = check_writable(flags.json); !fine) return failed(fine);
  const auto target = choose_target(flags.device);
  if (!target) return failed(target.error());
  const auto request = request_of(*target, flags);
  if (!request) return failed(request.error());
  Tuned tuned;
  Status status = tune_on(*target, *request, flags.quiet, tuned);
  if (!tuned.last.file.empty() && !flags.quiet)
    say_what_is_kept(tuned, status.code() == kInterrupted);
  if (!status) return failed(status);
  if (!flags.json.empty())
    status = write_record({{"environment", record_of(*target)},
                           {"table", tuned.last.file},
                           {"candidates", tuned.last.candidates},
                           {"known", tuned.last.known},
                           {"measured", tuned.last.measured},
                           {"variants", tuned.variants}},
                          flags.json);
  if (!status) return failed(status);
  if (flags.json != "-") print_table(tuned);
  return tuned.wrong.empty() ? kFine : kWrongResult;
}

}  // namespace

extern const Verb tune_verb = {
    .position = 65,
    .name = "tune",
    .summary = "measure on this device what selection predicts with",
    .main = tune_main,
};

}  // namespace ridge::tools
