// Launches one rung on one case, once, and nothing else: for whoever watches the device.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "harness/device.h"
#include "ladder/cases.h"
#include "select/device.h"
#include "sets.h"

namespace ridge::ladders {

int launch(const Options& options) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  if (options.operators.size() != 1) return fail(Error{2, "launch takes one operator"});
  const std::string& name = options.operators.front();
  const Operator op = find_operator(name);
  if (!op.ladder) return fail(Error{2, "there is no operator '" + name + "'"});
  int rung = -1;
  for (size_t r = 0; r < op.ladder->rungs.size(); ++r)
    if (op.ladder->rungs[r].name == options.rung) rung = int(r);
  if (rung < 0) return fail(Error{2, name + " has no rung '" + options.rung + "'"});
  const auto cases = cases_of(op, options, {op.ladder->tour});
  if (!cases) return fail(cases.error());
  const Case& c = cases->front();
  const Workload workload = op.ladder->workload(c);
  nlohmann::json header = describe(op, c, workload);
  header["event"] = "launch";
  header["rung"] = options.rung;
  // Work items: the elements of the largest tensor.
  int64_t elements = 0;
  for (const TensorSpec& tensor : workload.tensors)
    elements = std::max(elements, count(tensor.shape));
  header["elements"] = elements;
  tell(header);
  const auto sets = make_sets(*op.ladder, c, workload, 1, op.ladder->rungs[size_t(rung)]);
  if (!sets) return fail(sets.error());
  const auto& tensors = sets->pointers[0];
  if (const Support support = op.ladder->supports(rung, c, tensors, *device); !support)
    return fail(Error{2, options.rung + " cannot do this: " + support.reason});
  const size_t wanted = op.ladder->workspace(rung, c, tensors, *device);
  auto workspace = harness::DeviceBuffer::make(int64_t(wanted), 0, false);
  if (!workspace) return fail(workspace.error());
  Status status = op.ladder->launch(rung, c, tensors, workspace->data(), wanted, *device, nullptr);
  if (status) status = harness::synchronize();
  return status ? 0 : fail(status);
}

}  // namespace ridge::ladders
