#include "harness/contestant.h"

namespace ridge::harness {

Contestant contestant_of(const Ladder& ladder, int rung, const DeviceInfo& device, int variant) {
  static const RungInfo chosen = {
      .name = "library", .idea = "what the library takes for this call", .claims = {}};
  const RungInfo& info = rung == kChosen ? chosen : ladder.rungs[size_t(rung)];
  const auto with_variant = [variant](Call call) {
    call.variant = variant;
    return call;
  };
  return {.name = variant < 0 ? info.name : info.name + " " + info.variants[size_t(variant)],
          .idea = info.idea,
          .rival = false,
          .pageable = info.pageable,
          .refuses =
              [&ladder, rung, device, with_variant](const Case&, const Call& call) {
                // What the library cannot do, it refuses when it is asked for the workspace.
                if (rung == kChosen) return std::string();
                const Support support = ladder.supports(rung, with_variant(call), device);
                return support ? std::string() : std::string(support.reason);
              },
          .workspace =
              [&ladder, rung, device, with_variant](const Call& call) {
                return ladder.workspace(rung, with_variant(call), device);
              },
          .launch =
              [&ladder, rung, device, with_variant](const Call& call, const Workspace& workspace,
                                                    cudaStream_t stream) {
                const Status s = ladder.launch(rung, with_variant(call), workspace, device, stream);
                if (!s) (void)cudaGetLastError();  // or the next launch would be blamed for it
                return s;
              }};
}

}  // namespace ridge::harness
