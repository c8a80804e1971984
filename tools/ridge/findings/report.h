// The report on a run that was watched for hazards: `ridge check`, and `ridge profile --check`.
#pragma once

#include <filesystem>
#include <string>

#include "core/status.h"
#include "findings/findings.h"
#include "flags.h"

namespace ridge::tools {

struct ReportFlags {
  std::string sarif;  // a file
  bool no_leaks = false;

  void add_to(CommandLine& line);
  Status read();  // after the command line was parsed, before the program runs
  bool any_given() const;

  std::string most = "20", suppressions;
  uint64_t most_shown = 20;
};

// What the software GPU wrote to `wire` while the program ran.
Findings findings_of_run(const std::filesystem::path& wire, const ReportFlags& flags, bool died);

// Leaves out what the user knows of, shows the rest on stderr, and writes SARIF.
Status report(Findings& findings, const ReportFlags& flags);

// 6 where the time ran out, 5 where something was found; otherwise the program's own.
int exit_code(const Findings& findings, int of_program);

}  // namespace ridge::tools
