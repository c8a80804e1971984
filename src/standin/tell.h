// What a stand-in reports: through the software GPU's runtime, with the line of the program that
// called the library (docs/findings.md).
#pragma once

#include <string>

namespace ridge::standin {

// `kind` is that of a finding: "failed-call" or "unsupported". Where the runtime is NVIDIA's, the
// words go to stderr as they are.
void tell(const char* kind, const std::string& message, const std::string& fix = {});

// The answer of a function that the stand-in does not have: reports its name once.
void tell_refused(const char* library, const char* function, const char* group);

}  // namespace ridge::standin
