// From a family's typed rungs to the Ladder that everybody else sees.
//
// A family gives a class with
//   using Args;                                              with void* workspace, size_t
//   workspace_bytes static Args bind(const Case&, std::span<void* const>);   device pointers in the
//   workload's order
// and derives from Erased<Family>, which then knows how to launch.
#pragma once

#include "ladder/ladder.h"
#include "select/select.h"

namespace ridge {

template <class Family>
class Erased : public Ladder {
 public:
  template <class Args>
  explicit Erased(std::span<const RungOf<Args>* const> typed) {
    for (const RungOf<Args>* rung : typed)
      rungs.push_back({rung->name, rung->idea, rung->claims, rung->pageable});
  }

  Support supports(int rung, const Case& c, std::span<void* const> tensors,
                   const DeviceInfo& device) const override {
    return Family::rungs()[size_t(rung)]->supports(Family::bind(c, tensors), device);
  }
  size_t workspace(int rung, const Case& c, std::span<void* const> tensors,
                   const DeviceInfo& device) const override {
    const auto* r = Family::rungs()[size_t(rung)];
    return r->workspace ? r->workspace(Family::bind(c, tensors), device) : 0;
  }
  Status launch(int rung, const Case& c, std::span<void* const> tensors, void* workspace,
                size_t workspace_bytes, const DeviceInfo& device,
                cudaStream_t stream) const override {
    auto args = Family::bind(c, tensors);
    args.workspace = workspace;
    args.workspace_bytes = workspace_bytes;
    return Family::rungs()[size_t(rung)]->launch(args, device, stream);
  }
  int choose(const Case& c, std::span<void* const> tensors, const DeviceInfo& device,
             std::vector<Candidate>* candidates) const override {
    return select(Family::rungs(), Family::bind(c, tensors), device, [&](const Candidate& seen) {
      if (candidates) candidates->push_back(seen);
    });
  }
};

}  // namespace ridge
