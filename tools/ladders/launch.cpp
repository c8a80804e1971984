// Launches rungs of operators on one case, each once, and nothing else: for whoever watches the
// device.
#include <algorithm>

#include "commands.h"
#include "harness/device.h"
#include "select/device.h"
#include "sets.h"

namespace ridge::ladders {

namespace {

Status launch_rung(const Loaded& loaded, const Case& c, int rung, const DeviceInfo& device) {
  const Ladder& ladder = *loaded.ladder;
  const RungInfo& info = ladder.rungs[size_t(rung)];
  const Workload workload = ladder.workload(c);
  LaunchAnswer answer = {.of_case = describe(loaded, c, workload), .rung = info.name};
  for (const TensorSpec& tensor : workload.tensors)
    answer.elements = std::max(answer.elements, count(tensor.shape));
  tell(answer);
  const auto sets = make_sets(ladder, c, workload, 1, info.pageable);
  if (!sets) return sets.error();
  const Call& call = *sets->front().call;
  if (const Support support = ladder.supports(rung, call, device); !support)
    return Error{2, info.name + " cannot do this: " + support.reason};
  const auto wanted = ladder.workspace(rung, call, device);
  if (!wanted) return wanted.error();
  auto workspace = harness::DeviceBuffer::make(int64_t(*wanted), 0, false);
  if (!workspace) return workspace.error();
  const Status status = ladder.launch(rung, call, {workspace->data(), *wanted}, device, nullptr);
  return status ? harness::synchronize() : status;
}

// Every rung of an operator, or the one asked for; of all, those that cannot do this case say so.
Status launch_operator(const std::string& name, const Request& request, const DeviceInfo& device) {
  const auto loaded = load_operator(name);
  if (!loaded) return loaded.error();
  const auto cases = cases_of(*loaded, request, {loaded->ladder->tour()});
  if (!cases) return cases.error();
  bool found = false;
  const auto& rungs = loaded->ladder->rungs;
  for (size_t r = 0; r < rungs.size(); ++r) {
    if (!request.rung.empty() && rungs[r].name != request.rung) continue;
    found = true;
    const Status status = launch_rung(*loaded, cases->front(), int(r), device);
    if (status) continue;
    if (!request.rung.empty() || status.code() != 2) return status;
    fail(status);
  }
  return found ? Status() : Error{2, name + " has no rung '" + request.rung + "'"};
}

}  // namespace

int launch(const Request& request) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  if (request.operators.empty()) return fail(Error{2, "launch what? Name an operator"});
  for (const std::string& name : request.operators)
    if (const Status status = launch_operator(name, request, *device); !status) return fail(status);
  return 0;
}

}  // namespace ridge::ladders
