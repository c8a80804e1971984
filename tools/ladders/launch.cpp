// Launches rungs of operators on one case, each once, and nothing else: for whoever watches the
// device.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "harness/device.h"
#include "ladder/cases.h"
#include "select/device.h"
#include "sets.h"

namespace ridge::ladders {

namespace {

Status launch_rung(const Operator& op, const Case& c, int rung, const DeviceInfo& device) {
  const RungInfo& info = op.ladder->rungs[size_t(rung)];
  const Workload workload = op.ladder->workload(c);
  nlohmann::json header = describe(op, c, workload);
  header["event"] = "launch";
  header["rung"] = info.name;
  // Work items: the elements of the largest tensor.
  int64_t elements = 0;
  for (const TensorSpec& tensor : workload.tensors)
    elements = std::max(elements, count(tensor.shape));
  header["elements"] = elements;
  tell(header);
  const auto sets = make_sets(*op.ladder, c, workload, 1, info);
  if (!sets) return sets.error();
  const auto& tensors = sets->pointers[0];
  if (const Support support = op.ladder->supports(rung, c, tensors, device); !support)
    return Error{2, info.name + " cannot do this: " + support.reason};
  const size_t wanted = op.ladder->workspace(rung, c, tensors, device);
  auto workspace = harness::DeviceBuffer::make(int64_t(wanted), 0, false);
  if (!workspace) return workspace.error();
  const Status status =
      op.ladder->launch(rung, c, tensors, workspace->data(), wanted, device, nullptr);
  return status ? harness::synchronize() : status;
}

// Every rung of an operator, or the one asked for; of all, those that cannot do this case say so.
Status launch_operator(const std::string& name, const Options& options, const DeviceInfo& device) {
  const Operator op = find_operator(name);
  if (!op.ladder) return Error{2, "there is no operator '" + name + "'"};
  const auto cases = cases_of(op, options, {op.ladder->tour});
  if (!cases) return cases.error();
  bool found = false;
  for (size_t r = 0; r < op.ladder->rungs.size(); ++r) {
    if (!options.rung.empty() && op.ladder->rungs[r].name != options.rung) continue;
    found = true;
    const Status status = launch_rung(op, cases->front(), int(r), device);
    if (status) continue;
    if (!options.rung.empty() || status.code() != 2) return status;
    fail(status);
  }
  return found ? Status() : Error{2, name + " has no rung '" + options.rung + "'"};
}

}  // namespace

int launch(const Options& options) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  if (options.operators.empty()) return fail(Error{2, "launch what? Name an operator"});
  for (const std::string& name : options.operators)
    if (const Status status = launch_operator(name, options, *device); !status) return fail(status);
  return 0;
}

}  // namespace ridge::ladders
