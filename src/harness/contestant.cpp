#include "harness/contestant.h"

namespace ridge::harness {

Contestant contestant_of(const Ladder& ladder, int rung, const DeviceInfo& device) {
  const RungInfo& info = ladder.rungs[size_t(rung)];
  return {.name = info.name,
          .idea = info.idea,
          .rival = false,
          .pageable = info.pageable,
          .refuses =
              [&ladder, rung, device](const Case&, const Call& call) {
                const Support support = ladder.supports(rung, call, device);
                return support ? std::string() : std::string(support.reason);
              },
          .workspace = [&ladder, rung,
                        device](const Call& call) { return ladder.workspace(rung, call, device); },
          .launch =
              [&ladder, rung, device](const Call& call, const Workspace& workspace,
                                      cudaStream_t stream) {
                return ladder.launch(rung, call, workspace, device, stream);
              }};
}

}  // namespace ridge::harness
