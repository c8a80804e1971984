// The commands of ridge_ladders. They answer in the lines of protocol.h, which `ridge` reads; only
// `verify`, which tests run, writes for people.
#pragma once

#include <string>
#include <vector>

#include "core/status.h"
#include "ladder/ladder.h"
#include "ladder/registry.h"
#include "protocol.h"

namespace ridge::ladders {

// An operator with its ladder, loaded.
struct Loaded {
  const Ladder* ladder = nullptr;
  const OperatorDef* op = nullptr;
};
Expected<Loaded> load_operator(const std::string& name);

// The cases to look at: the one asked for, or those of `fallback` that are of this operator.
Expected<std::vector<Case>> cases_of(const Loaded& loaded, const Request& request,
                                     const std::vector<Case>& fallback);

// Well-aligned addresses for tensors that nobody looks at: checks and selection ask where a tensor
// is, never what is there.
std::vector<void*> nowhere(const Workload& workload);

// A case's call on such tensors. `kept` holds what it points to.
Expected<Call> call_of(const Loaded& loaded, const Case& c, const Workload& workload,
                       KeptCall& kept);

int list(const Request& request);
int verify(const Request& request);
int measure(const Request& request);
int choose(const Request& request);
int launch(const Request& request);
int export_case(const Request& request);
int tune(const Request& request);

void tell(const Answer& answer);
CaseAnswer describe(const Loaded& loaded, const Case& c, const Workload& workload);

int fail(const Status& status);  // tells the caller in its own way, and returns the code

}  // namespace ridge::ladders
