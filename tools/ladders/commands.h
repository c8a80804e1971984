// The commands of ridge_ladders. They answer in JSON, one object a line, which `ridge` reads; only
// `verify`, which tests run, writes for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/status.h"
#include "ladder/ladder.h"

namespace ridge::ladders {

struct Options {
  std::vector<std::string> operators;  // none: all
  std::string shape, dtype, rung;
  uint64_t seed = 1;
  bool hot = false;
  bool tour = false;   // the small case
  bool fast = false;   // fewer samples; verify: small cases only
  std::string rivals;  // a library with rivals to time beside ours
};
Expected<Options> read_options(int argc, char** argv);

// The cases to look at: the one asked for, or `fallback`.
Expected<std::vector<Case>> cases_of(const Operator& op, const Options& options,
                                     const std::vector<Case>& fallback);

int list(const Options& options);
int verify(const Options& options);
int climb(const Options& options);
int explain(const Options& options);
int launch(const Options& options);

void tell(const nlohmann::json& line);
nlohmann::json describe(const Operator& op, const Case& c, const Workload& workload);

int fail(const Status& status);  // tells the caller in its own way, and returns the code

}  // namespace ridge::ladders
