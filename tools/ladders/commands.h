// The commands of ridge_ladders. They answer in JSON, one object per line, which `ridge` reads;
// only `verify`, which tests run, writes for people.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/status.h"
#include "ladder/ladder.h"
#include "ladder/registry.h"

namespace ridge::ladders {

struct Options {
  std::vector<std::string> operators;  // none: all
  std::string shape, rung, distribution;
  std::vector<std::string> dtypes;                          // "bf16", or "a=bf16" of one tensor
  std::vector<std::pair<std::string, std::string>> sizes;   // --size rows=4096
  std::vector<std::pair<std::string, std::string>> values;  // --set alpha=2
  uint64_t seed = 1;
  bool hot = false;
  bool tour = false;    // one case of each operator, and few samples
  bool small = false;   // the case for the software GPU
  bool fast = false;    // fewer samples; verify: small cases only
  bool roofs = true;    // measure the memory first; --known-roofs: the caller has done so
  bool rivals = false;  // on the software GPU, too
  std::string folder;   // export: where the files go
};
Expected<Options> read_options(int argc, char** argv);

// An operator with its ladder, loaded.
struct Loaded {
  const Ladder* ladder = nullptr;
  const OperatorDef* op = nullptr;
};
Expected<Loaded> load_operator(const std::string& name);

// The cases to look at: the one asked for, or those of `fallback` that are of this operator.
Expected<std::vector<Case>> cases_of(const Loaded& loaded, const Options& options,
                                     const std::vector<Case>& fallback);

// Well-aligned addresses for tensors that nobody looks at: checks and selection ask where a tensor
// is, never what is there.
std::vector<void*> nowhere(const Workload& workload);

// A case's call on such tensors. `kept` holds what it points to.
Expected<Call> call_of(const Loaded& loaded, const Case& c, const Workload& workload,
                       KeptCall& kept);

int list(const Options& options);
int verify(const Options& options);
int climb(const Options& options);
int explain(const Options& options);
int launch(const Options& options);
int export_case(const Options& options);

void tell(const nlohmann::json& line);
nlohmann::json describe(const Loaded& loaded, const Case& c, const Workload& workload);

int fail(const Status& status);  // tells the caller in its own way, and returns the code

}  // namespace ridge::ladders
