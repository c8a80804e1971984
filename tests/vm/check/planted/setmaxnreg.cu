// setmaxnreg: warpgroups that ask for registers which nobody gives back. A block of 384 threads
// starts with 168 registers per thread.
#include "planted.h"

constexpr int kThreads = 384, kGroup = 128;

#define BOUNDS __launch_bounds__(kThreads, 1)
#define DEC(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 " #n ";")
#define INC(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 " #n ";")

// What the producer gives back is enough for 232, not for 240.
__global__ void BOUNDS too_many(int* out, int fixed) {
  if (threadIdx.x < kGroup) {
    DEC(40);
  } else if (fixed) {
    INC(232);
  } else {
    INC(240);  // BUG too_many
  }
  out[threadIdx.x] = int(threadIdx.x);
}

// The producer waits for the consumers, which wait for its registers.
__global__ void BOUNDS forgotten(int* out, int fixed) {
  __shared__ int taken;
  if (threadIdx.x == 0) taken = 0;
  __syncthreads();
  if (threadIdx.x < kGroup) {
    if (fixed) DEC(40);
    while (atomicAdd(&taken, 0) == 0) {
    }
  } else {
    INC(232);  // BUG forgotten
    if (threadIdx.x == kGroup) atomicExch(&taken, 1);
  }
  out[threadIdx.x] = int(threadIdx.x);
}

// One warp of the producer goes another way.
__global__ void BOUNDS part(int* out, int fixed) {
  const int most = fixed ? kGroup : kGroup - 32;
  if (int(threadIdx.x) < most) {
    DEC(40);  // BUG part
  } else if (threadIdx.x >= kGroup) {
    INC(208);
  }
  out[threadIdx.x] = int(threadIdx.x);
}

// Both directions, twice, with a barrier between, as PTX asks for.
__global__ void BOUNDS back_and_forth(int* out) {
  for (int turn = 0; turn < 2; ++turn) {
    if (threadIdx.x < kGroup) DEC(24);
    else INC(240);
    __syncthreads();
    if (threadIdx.x >= kGroup) DEC(168);
    else INC(168);
    __syncthreads();
  }
  out[threadIdx.x] = int(threadIdx.x);
}

// Without a minimum of blocks per multiprocessor ptxas ignores the instruction.
__global__ void ignored(int* out) {
  INC(256);
  out[threadIdx.x] = int(threadIdx.x);
}

const Planted kAll[] = {
    {"too_many", "setmaxnreg",
     [](int fixed) {
       Array<int> out(kThreads);
       too_many<<<2, kThreads>>>(out, fixed);
     }},
    {"forgotten", "setmaxnreg",
     [](int fixed) {
       Array<int> out(kThreads);
       forgotten<<<2, kThreads>>>(out, fixed);
     }},
    {"part", "setmaxnreg",
     [](int fixed) {
       Array<int> out(kThreads);
       part<<<2, kThreads>>>(out, fixed);
       if (!fixed) return;
       back_and_forth<<<2, kThreads>>>(out);
       ignored<<<2, kThreads>>>(out);
     }},
};
PLANTED_MAIN(kAll)
