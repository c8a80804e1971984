// adamw rung 03, multi_tensor: many tensors in one launch.
//
// Since 02_vectors: a table of tensors travels with the launch, and each block finds its tensor by
//   a binary search over the first blocks of all tensors. A model of hundreds of tensors takes a
//   handful of launches, and small tensors fill the GPU together.
// Stops at: HBM.
// Not for: one large tensor: it gains nothing from the table and the search.
#include "kernels/adamw/adamw.h"
#include "kernels/adamw/update.cuh"
#include "select/select.h"

namespace ridge::adamw::multi_tensor {

constexpr int kTensors = 48;  // a launch: its parameters stay under 4 KB
constexpr Tuned kTuned = {2.2, 0.88};

struct Table {
  Slots slots[kTensors];
  uint32_t first_block[kTensors + 1];  // of each tensor; behind the last, all blocks
  int count;
};
static_assert(sizeof(Table) + sizeof(Step) <= 4096);

template <class T>
__global__ void __launch_bounds__(kThreads) adamw_multi_tensor(Table table, Step step) {
  int low = 0, high = table.count;  // the tensor is one of [low, high)
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (blockIdx.x < table.first_block[middle]) high = middle;
    else low = middle;
  }
  update_block<T>(table.slots[low], blockIdx.x - table.first_block[low], step);
}

static Support supports(const Args& a, const DeviceInfo&) { return supported(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Step step(a);
  return with_weight_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    Table table = {};
    const auto flush = [&] {
      if (table.count == 0) return Status::ok();
      adamw_multi_tensor<T><<<table.first_block[table.count], kThreads, 0, stream>>>(table, step);
      table.count = 0;
      return launch_status();
    };
    for (const Part& part : a.parts) {
      if (part.n == 0) continue;
      if (table.count == kTensors)
        if (const Status s = flush(); !s) return s;
      const Slots slots = slots_of<T>(part);
      table.slots[table.count] = slots;
      table.first_block[table.count + 1] =
          table.first_block[table.count] + uint32_t(blocks_of(slots));
      ++table.count;
    }
    return flush();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double launches = std::ceil(double(a.parts.size()) / kTensors);
  return streaming_us(kTuned, bytes(a), device) + kTuned.fixed_us * (launches - 1);
}
constinit const Rung rung = {.idea = "a table of tensors, all in one launch",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::adamw::multi_tensor
