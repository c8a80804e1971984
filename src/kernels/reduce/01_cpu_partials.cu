// reduce rung 01, cpu_partials: every block reduces a share, the CPU combines what they leave.
//
// Stops at: the CPU. The result is a round trip away from the GPU, tens of microseconds, and in a
//   block one thread combines what the others wait to give away.
// Not for: anything whose result the GPU needs next.
//
// A launch only enqueues, so the CPU's part is a host function in the stream. It meets the kernels
// in managed memory, the only memory both can touch that needs no allocation here: one of a few
// mailboxes, which a launch takes when its turn comes and gives back when it is done. A launch is
// told from others by its workspace, which it has for itself anyway.
#include "kernels/reduce/operators.cuh"

namespace ridge::reduce::cpu_partials {

constexpr int kThreads = 256;
constexpr int kMostBlocks = 256;
constexpr int kMailboxes = 16;
constexpr size_t kLargestAcc = 16;

struct Mailbox {
  unsigned long long owner;  // a workspace's address; 0: nobody's
  int count;
  alignas(16) char total[kLargestAcc];
  alignas(16) char partials[kMostBlocks * kLargestAcc];
};
__device__ __managed__ Mailbox mailboxes[kMailboxes];

__device__ __forceinline__ Mailbox* find(Mailbox* boxes, unsigned long long owner) {
  for (int i = 0; i < kMailboxes; ++i)
    if (*const_cast<volatile unsigned long long*>(&boxes[i].owner) == owner) return &boxes[i];
  return nullptr;
}

__global__ void take_mailbox(Mailbox* boxes, Mailbox** taken, int count) {
  const auto owner = reinterpret_cast<unsigned long long>(taken);
  Mailbox* box = find(boxes, owner);
  for (int i = 0; !box; i = (i + 1) % kMailboxes) {  // if all are taken, until one is given back
    if (atomicCAS(&boxes[i].owner, 0ull, owner) == 0) box = &boxes[i];
    else __nanosleep(1000);
  }
  box->count = count;
  *taken = box;
}

template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    reduce_cpu_partials(Op op, const T* x, const T* y, int64_t n, Mailbox* const* taken) {
  using Acc = reduction::AccOf<Op>;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  Acc* const of_thread = reinterpret_cast<Acc*>(memory);
  Acc acc = op.identity();
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < n;
       i += int64_t(gridDim.x) * kThreads)
    acc = op.combine(acc, read_one(op, x, y, i));
  of_thread[threadIdx.x] = acc;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < kThreads; ++t) acc = op.combine(acc, of_thread[t]);
  reinterpret_cast<Acc*>((*taken)->partials)[blockIdx.x] = acc;
}

template <class Op>
void combine_on_cpu(void* workspace) {
  using Acc = reduction::AccOf<Op>;
  static_assert(sizeof(Acc) <= kLargestAcc);
  for (Mailbox& box : mailboxes) {
    if (box.owner != reinterpret_cast<unsigned long long>(workspace)) continue;
    const Op op = {};  // what an operator holds is for its transform
    const Acc* partials = reinterpret_cast<const Acc*>(box.partials);
    Acc acc = op.identity();
    for (int i = 0; i < box.count; ++i) acc = op.combine(acc, partials[i]);
    *reinterpret_cast<Acc*>(box.total) = acc;
  }
}

template <class Op, class Out>
__global__ void put_and_give_back(Op op, Mailbox* const* taken, int64_t n, Out* out) {
  using Acc = reduction::AccOf<Op>;
  *out = reduction::finished<Out>(op, *reinterpret_cast<const Acc*>((*taken)->total), n);
  __threadfence();
  atomicExch(&(*taken)->owner, 0ull);
}

// The CPU reads its mailbox while other kernels may run.
static Support supports(const Args& a, const DeviceInfo& info) {
  int device = 0, concurrent = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device) !=
          cudaSuccess ||
      !concurrent)
    return "needs managed memory that CPU and GPU may touch at the same time";
  return supports_all(a, info);
}
static size_t workspace(const Args&, const DeviceInfo&) { return sizeof(Mailbox*); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int blocks = int(std::clamp<int64_t>((a.n + kThreads - 1) / kThreads, 1, kMostBlocks));
  Mailbox** const taken = static_cast<Mailbox**>(a.workspace);
  return with_operator(a, [&](auto op, auto t, auto result) -> Status {
    using Op = decltype(op);
    using T = decltype(t);
    take_mailbox<<<1, 1, 0, stream>>>(mailboxes, taken, blocks);
    reduce_cpu_partials<<<blocks, kThreads, 0, stream>>>(op, static_cast<const T*>(a.x),
                                                         static_cast<const T*>(a.y), a.n, taken);
    if (const Status s = launch_status(); !s) return s;
    if (const cudaError_t e = cudaLaunchHostFunc(stream, combine_on_cpu<Op>, taken);
        e != cudaSuccess)
      return Error{int(e), std::string("no host function: ") + cudaGetErrorString(e)};
    put_and_give_back<<<1, 1, 0, stream>>>(op, taken, a.n, static_cast<decltype(result)*>(a.out));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "a value a block, combined on the CPU",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.global_loads_per_element = 1, .barriers = 1}};

}  // namespace ridge::reduce::cpu_partials
