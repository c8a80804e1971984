// The only place that writes to stderr. Reports are for people: what happened, where, and what to
// do.
#pragma once

#include <string_view>

namespace ridge::vm::cudart {

void report(std::string_view text);                             // "ridge: text\n" in one write
void report_once(std::string_view key, std::string_view text);  // the first time this key is seen
void report_verbatim(std::string_view text);                    // as it is, with nothing allocated

}  // namespace ridge::vm::cudart
