// Findings that the user has looked at and accepts: named in a file, left out of the report.
#pragma once

#include <string>

#include "core/status.h"
#include "findings/findings.h"

namespace ridge::tools {

// Moves what the file names from findings.all to findings.suppressed. One rule per line:
//
//   KIND [FILE[:LINE] | kernel:NAME]     # comment
//
// KIND, FILE and NAME may hold * and ?. An empty path means .ridge-suppress in the current folder,
// if there is one.
Status suppress(Findings& findings, const std::string& path);

}  // namespace ridge::tools
