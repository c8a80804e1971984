#include "describe.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "process.h"
#include "verb.h"

namespace ridge::tools {

// Flags are bound to variables inside each verb's main function, so each verb is asked, in a
// process of its own.
Expected<std::vector<nlohmann::json>> describe_verbs() {
  std::vector<nlohmann::json> verbs;
  for (const Verb* verb : all_verbs()) {
    const Outcome asked = run({.program = "/proc/self/exe",
                               .arguments = {verb->name, "--describe-flags"},
                               .capture = true});
    auto about = nlohmann::json::parse(asked.output, nullptr, /*allow_exceptions=*/false);
    if (!asked.ok() || !about.is_object())
      return Error{kMissing, fmt::format("`ridge {} --describe-flags` does not answer: {}",
                                         verb->name, asked.output)};
    about["brief"] = verb->summary;
    verbs.push_back(std::move(about));
  }
  return verbs;
}

}  // namespace ridge::tools
