// Where findings go while a program runs: to a file that `ridge` reads afterwards, and unless
// somebody collects them there (`ridge check`), to the program's stderr.
//
// The file has one JSON object per line: findings with an "id"; {"of": id, "count": n}, how often
// one was seen; {"finished": true, "launches": n} when the program came to its end. A finding with
// the id of an earlier one replaces it; {"withdrawn": id} says that another one tells it, too.
#pragma once

#include "vm/report/finding.h"

namespace ridge::vm::report {

// Before the first finding. `path` may be empty: no file. False when it cannot be written, with the
// reason in errno.
bool open_sink(const std::string& path, bool says);

// Reports a finding, unless one of its kind has come from the same place; then it returns false.
// This is the text that a program has on its stderr.
bool tell(const Finding& finding);

// For callers that count for themselves: writes the finding in any case, and returns its id.
uint64_t write(const Finding& finding);
void rewrite(uint64_t id, const Finding& finding);
void withdraw(uint64_t id);
void write_count(uint64_t id, uint64_t count);
void write_end(uint64_t launches);  // only the first call writes

// Called with every text that goes to stderr.
void on_text(void (*listener)(std::string_view text));

}  // namespace ridge::vm::report
