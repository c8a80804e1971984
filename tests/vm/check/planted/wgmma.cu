// wgmma: accumulators, fragments and tiles touched before the product was waited for, tiles that are
// not there yet, and fences that are missing.
#include <cuda_bf16.h>

#include <cstdint>

#include "planted.h"

constexpr int kThreads = 128;                  // a warpgroup
constexpr int kTileA = 64 * 32, kTileB = 8 * 32;  // bytes: 64 and 8 rows of 16 numbers
constexpr int kTurns = 3;

// Instructions stand where they are used, so that findings name the kernel's lines.
#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(newest) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(newest) : "memory")
#define PROXY_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define MULTIPLY(d, a, b)                                                                        \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, "  \
               "1, 1, 1, 0, 0;"                                                                  \
               : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])                          \
               : "l"(a), "l"(b))
#define MULTIPLY_FRAGMENT(d, a, b)                                                               \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, "          \
               "{%4, %5, %6, %7}, %8, 1, 1, 1, 0;"                                               \
               : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])                          \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "l"(b))
#define LOAD_SHARED(value, address) \
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory")

__device__ uint32_t address_of(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

// Eight rows of 16 bytes lie together; two such pieces side by side, groups of rows 256 bytes apart.
__device__ uint64_t descriptor(const void* tile) {
  return address_of(tile) >> 4 | uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32;
}
__device__ void fill(void* tile, int bytes, uint32_t value) {
  for (int i = threadIdx.x; i < bytes / 4; i += kThreads) static_cast<uint32_t*>(tile)[i] = value;
}
__device__ void store(float* out, const float (&d)[4]) {
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = d[i];
}

struct alignas(128) Tiles {
  unsigned char a[kTileA], b[kTileB];
};
// Two numbers 1.0.
constexpr uint32_t kOnes = 0x3f803f80;
__device__ void fill(Tiles& tiles) {
  fill(tiles.a, kTileA, kOnes);
  fill(tiles.b, kTileB, kOnes);
  PROXY_FENCE();
  __syncthreads();
}

// --- accumulators ---

__global__ void read_before_wait(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
  FENCE();
  MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));       // BUG read_before_wait
  COMMIT();
  if (fixed) WAIT(0);
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];                // BUG read_before_wait
  WAIT(0);
}

__global__ void one_group_too_few(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {}, e[4] = {};
  FENCE();
  MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));
  COMMIT();
  MULTIPLY(e, descriptor(tiles.a), descriptor(tiles.b));       // BUG one_group_too_few
  COMMIT();
  if (fixed) WAIT(0);
  else WAIT(1);
  out[threadIdx.x] = d[0];
  out[threadIdx.x] += e[0];                                    // BUG one_group_too_few
  WAIT(0);
}

__global__ void not_committed(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
  FENCE();
  MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));       // BUG not_committed
  if (fixed) COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[3];                                     // BUG not_committed
}

// Sums are scaled from turn to turn, as attention does.
__global__ void scaled_under_way(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    FENCE();
    MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));     // BUG scaled_under_way
    COMMIT();
    if (fixed) WAIT(0);
    for (int i = 0; i < 4; ++i) d[i] *= 0.5f;                  // BUG scaled_under_way
  }
  WAIT(0);
  store(out, d);
}

// --- A in registers ---

__global__ void fragment_changed(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
  uint32_t a[4] = {threadIdx.x, 1, 2, 3};
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    FENCE();
    MULTIPLY_FRAGMENT(d, a, descriptor(tiles.b));              // BUG fragment_changed
    COMMIT();
    if (fixed) WAIT(0);
    asm volatile("add.u32 %0, %0, 1;" : "+r"(a[1]));           // BUG fragment_changed
  }
  WAIT(0);
  store(out, d);
}

__global__ void fragment_reloaded(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
  uint32_t a[4];
  for (int i = 0; i < 4; ++i) LOAD_SHARED(a[i], address_of(tiles.a) + 4 * (threadIdx.x + i));
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    FENCE();
    MULTIPLY_FRAGMENT(d, a, descriptor(tiles.b));              // BUG fragment_reloaded
    COMMIT();
    if (fixed) WAIT(0);
    LOAD_SHARED(a[2], address_of(tiles.a) + 4 * (threadIdx.x + turn));  // BUG fragment_reloaded
  }
  WAIT(0);
  store(out, d);
}

// --- tiles ---

__global__ void tile_overwritten(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
  FENCE();
  MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));       // BUG tile_overwritten
  COMMIT();
  if (fixed) WAIT(0);
  __syncthreads();
  reinterpret_cast<uint32_t*>(tiles.a)[threadIdx.x] = 0;       // BUG tile_overwritten
  WAIT(0);
  store(out, d);
}

// Of two stages the one that is under way is filled, not the one that is done.
__global__ void wrong_stage_filled(float* out, int fixed) {
  __shared__ Tiles tiles[2];
  fill(tiles[0]);
  fill(tiles[1]);
  float d[4] = {};
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    const int now = turn % 2, before = 1 - now;
    FENCE();
    MULTIPLY(d, descriptor(tiles[now].a), descriptor(tiles[now].b));  // BUG wrong_stage_filled
    COMMIT();
    WAIT(1);
    __syncthreads();
    uint32_t* tile = reinterpret_cast<uint32_t*>(tiles[fixed ? before : now].b);
    if (threadIdx.x < kTileB / 4) tile[threadIdx.x] = turn;           // BUG wrong_stage_filled
    PROXY_FENCE();
    __syncthreads();
  }
  WAIT(0);
  store(out, d);
}

// A bulk copy brings the next tile while the product still reads this one.
__global__ void copied_too_early(const unsigned char* in, float* out, int fixed) {
  __shared__ Tiles tiles;
  __shared__ alignas(8) uint64_t full;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  fill(tiles);
  float d[4] = {};
  FENCE();
  MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));       // BUG copied_too_early
  COMMIT();
  if (fixed) WAIT(0);
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&full)),
                 "n"(kTileB) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(address_of(tiles.b)), "l"(in), "n"(kTileB),
                 "r"(address_of(&full)) : "memory");          // BUG copied_too_early
  }
  uint32_t done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
                 " selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(address_of(&full)) : "memory");
  WAIT(0);
  store(out, d);
}

// --- fences ---

__global__ void no_fence(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
  if (fixed) FENCE();
  MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));       // BUG no_fence
  COMMIT();
  WAIT(0);
  store(out, d);
}

__global__ void scaled_without_fence(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
  FENCE();
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));     // BUG scaled_without_fence
    COMMIT();
    WAIT(0);
    for (int i = 0; i < 4; ++i) d[i] *= 0.5f;                  // BUG scaled_without_fence
    if (fixed) FENCE();
  }
  store(out, d);
}

__global__ void fragment_without_fence(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
  uint32_t a[4];
  FENCE();
  for (int i = 0; i < 4; ++i)
    LOAD_SHARED(a[i], address_of(tiles.a) + 4 * (threadIdx.x + i));  // BUG fragment_without_fence
  if (fixed) FENCE();
  MULTIPLY_FRAGMENT(d, a, descriptor(tiles.b));                // BUG fragment_without_fence
  COMMIT();
  WAIT(0);
  store(out, d);
}

// What threads have stored is not there yet for the tensor core.
__global__ void no_proxy_fence(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  reinterpret_cast<uint32_t*>(tiles.a)[threadIdx.x] = 0;       // BUG no_proxy_fence
  if (fixed) PROXY_FENCE();
  __syncthreads();
  float d[4] = {};
  FENCE();
  MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));       // BUG no_proxy_fence
  COMMIT();
  WAIT(0);
  store(out, d);
}

// The fence of one thread does nothing for the stores of the others before the barrier.
__global__ void only_one_fences(float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  float d[4] = {};
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    if (threadIdx.x < kTileB / 4)
      reinterpret_cast<uint32_t*>(tiles.b)[threadIdx.x] = turn;  // BUG only_one_fences
    if (threadIdx.x >= 96 || fixed) PROXY_FENCE();
    __syncthreads();
    FENCE();
    MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));     // BUG only_one_fences
    COMMIT();
    WAIT(0);
    __syncthreads();
  }
  store(out, d);
}

// The product reads a tile that cp.async is still filling.
__global__ void tile_not_awaited(const unsigned char* in, float* out, int fixed) {
  __shared__ Tiles tiles;
  fill(tiles);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::
               "r"(address_of(tiles.a + 16 * threadIdx.x)), "l"(in + 16 * threadIdx.x) : "memory");  // BUG tile_not_awaited SAYS tile_not_awaited: is read before the copy was waited for
  if (fixed) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    PROXY_FENCE();
    __syncthreads();
  }
  float d[4] = {};
  FENCE();
  MULTIPLY(d, descriptor(tiles.a), descriptor(tiles.b));       // BUG tile_not_awaited
  COMMIT();
  WAIT(0);
  store(out, d);
}

#define ON_ONE_BLOCK(kernel)              \
  [](int fixed) {                         \
    Array<float> out(4 * kThreads);       \
    kernel<<<1, kThreads>>>(out, fixed);  \
    cudaDeviceSynchronize();              \
  }

const Planted kAll[] = {
    {"read_before_wait", "wgmma", ON_ONE_BLOCK(read_before_wait)},
    {"one_group_too_few", "wgmma", ON_ONE_BLOCK(one_group_too_few)},
    {"not_committed", "wgmma", ON_ONE_BLOCK(not_committed)},
    {"scaled_under_way", "wgmma", ON_ONE_BLOCK(scaled_under_way)},
    {"fragment_changed", "wgmma", ON_ONE_BLOCK(fragment_changed)},
    {"fragment_reloaded", "wgmma", ON_ONE_BLOCK(fragment_reloaded)},
    {"tile_overwritten", "wgmma", ON_ONE_BLOCK(tile_overwritten)},
    {"wrong_stage_filled", "wgmma", ON_ONE_BLOCK(wrong_stage_filled)},
    {"copied_too_early", "wgmma", [](int fixed) {
       Array<unsigned char> in(kTileB);
       Array<float> out(4 * kThreads);
       copied_too_early<<<1, kThreads>>>(in, out, fixed);
       cudaDeviceSynchronize();
     }},
    {"no_fence", "wgmma", ON_ONE_BLOCK(no_fence)},
    {"scaled_without_fence", "wgmma", ON_ONE_BLOCK(scaled_without_fence)},
    {"fragment_without_fence", "wgmma", ON_ONE_BLOCK(fragment_without_fence)},
    {"no_proxy_fence", "proxy-fence", ON_ONE_BLOCK(no_proxy_fence)},
    {"only_one_fences", "proxy-fence", ON_ONE_BLOCK(only_one_fences)},
    {"tile_not_awaited", "async", [](int fixed) {
       Array<unsigned char> in(kTileA);
       Array<float> out(4 * kThreads);
       tile_not_awaited<<<1, kThreads>>>(in, out, fixed);
       cudaDeviceSynchronize();
     }},
};
PLANTED_MAIN(kAll)
