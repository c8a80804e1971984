// A finding as people read it. The first line is "file:line:column: error: …", which editors match.
#pragma once

#include <string>

#include "vm/report/finding.h"

namespace ridge::vm::report {

struct TextStyle {
  bool colour = false;
  bool excerpt = true;  // the source lines, where the files can be read
};

// Ends with a newline.
std::string to_text(const Finding& finding, const TextStyle& style);
// The first line alone, without a newline: for a program's stderr.
std::string to_line(const Finding& finding);

// Whether colour is wanted on this file: a terminal that is not dumb, and NO_COLOR is not set.
bool wants_colour(int file_descriptor);

}  // namespace ridge::vm::report
