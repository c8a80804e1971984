#include "findings/report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "findings/sarif.h"
#include "findings/suppress.h"
#include "findings/text.h"
#include "record.h"

namespace ridge::tools {

void ReportFlags::add_to(CommandLine& line) {
  line.add_option("--max-reports", most, "N", "show at most N findings (default: 20)");
  line.add_flag("--no-leaks", no_leaks, "do not report memory that is never freed");
  line.add_option("--sarif", sarif, "FILE",
                  "write the findings as SARIF, for code hosts and editors");
  line.add_option(
      "--suppress", suppressions, "FILE",
      "leave out the findings that this file lists (default: .ridge-suppress, if there is one)");
}

Status ReportFlags::read() {
  const auto number = whole_number(most, "--max-reports");
  if (!number) return number.error();
  most_shown = *number;
  return check_writable(sarif);
}

bool ReportFlags::any_given() const {
  return most != ReportFlags().most || no_leaks || !sarif.empty() || !suppressions.empty();
}

Findings findings_of_run(const std::filesystem::path& wire, const ReportFlags& flags, bool died) {
  std::ifstream in(wire);
  Findings findings = read_findings(in);
  // A program that never loaded the CUDA runtime has nothing to tell.
  if (!in.is_open() && !died) findings.finished = true;
  if (flags.no_leaks)
    std::erase_if(findings.all, [](const Finding& f) { return f.kind == "leak"; });
  return findings;
}

Status report(Findings& findings, const ReportFlags& flags) {
  if (const Status known = suppress(findings, flags.suppressions); !known) return known;
  std::fflush(stdout);
  fmt::print(stderr, "{}", to_text(findings, flags.most_shown));
  return flags.sarif.empty() ? Status::ok() : write_record(to_sarif(findings), flags.sarif);
}

int exit_code(const Findings& findings, int of_program) {
  if (of_program == kTimeout || findings.has("timeout")) return kTimeout;
  return findings.all.empty() ? of_program : int(kHazard);
}

}  // namespace ridge::tools
