#include "ladder/ask_model.h"
#include "ladder/ladder.h"
#include "ladder/registry.h"
#include "operator/check.h"
#include "select/device.h"

namespace ridge {
namespace {

constexpr size_t kWorkspaceAlignment = 16;

Status check_workspace(const Call& call, const char* name, const Workspace& workspace,
                       size_t wanted) {
  ops::Check check(name);
  check.that(workspace.bytes >= wanted, [&] {
    return "the workspace has " + std::to_string(workspace.bytes) + " bytes, but takes " +
           std::to_string(wanted);
  });
  check.that(workspace.data || wanted == 0, "the workspace is null");
  check.that(reinterpret_cast<uintptr_t>(workspace.data) % kWorkspaceAlignment == 0, [&] {
    return "the workspace is not aligned to " + std::to_string(kWorkspaceAlignment) + " bytes";
  });
  for (size_t t = 0; t < call.op().tensors.size(); ++t)
    if (call.tensors[t])
      check.that(!ops::overlaps(workspace.data, wanted, *call.tensors[t]), [&] {
        return "the workspace and " + call.op().tensors[t].name + " overlap in memory";
      });
  return check.status();
}

// Each launch by the rung that the model of time named.
Status launch_asked(const Ladder& ladder, const Call& call, const std::vector<AskedRung>& asked,
                    const Workspace& workspace, const DeviceInfo& device, cudaStream_t stream) {
  const auto choices = ladder.choices(call, device);
  if (!choices) return choices.error();
  for (size_t i = 0; i < choices->size(); ++i)
    if (const Status s = (*choices)[i].launch(asked[i].rung, workspace, device, stream); !s)
      return s;
  return Status::ok();
}

}  // namespace

Status run(Call& call, const Workspace& workspace, cudaStream_t stream, const char* name) {
  if (!name) name = call.op().name.c_str();
  // The frame of a group has no tensors of its own: its calls were checked one by one.
  if (call.group.empty())
    if (const Status s = check_call(call, name); !s) return s;
  const auto ladder = load_family(call.op().family);
  if (!ladder) return Error{ladder.error().code, std::string(name) + ": " + ladder.error().message};
  const auto device = current_device();
  if (!device) return device.error();
  const auto wanted = (*ladder)->workspace(kChosen, call, *device);
  if (!wanted) return wanted.error();
  if (workspace.wanted) {
    *workspace.wanted = *wanted;
    return Status::ok();
  }
  if (const Status s = check_workspace(call, name, workspace, *wanted); !s) return s;
  const std::vector<AskedRung> asked = ask_model(**ladder, call, *device, stream);
  if (asked.empty()) return (*ladder)->launch(kChosen, call, workspace, *device, stream);
  return launch_asked(**ladder, call, asked, workspace, *device, stream);
}

}  // namespace ridge
