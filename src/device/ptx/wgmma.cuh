// wgmma: products of a warpgroup, which are four warps, on tiles in shared memory. They run
// asynchronously: fence, multiply, commit, and wait before the sums are used. sm_90a.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "device/ptx/mbarrier.cuh"

namespace ridge::ptx {

// Before the first product, and after any other write to its sums.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until at most `Pending` groups of products are still under way.
template <int Pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Where an operand lies: its address, and two steps in bytes, whose meaning depends on which of its
// dimensions is contiguous (device/wgmma_operand.cuh). With the 128-byte swizzle.
__device__ __forceinline__ uint64_t wgmma_descriptor(const void* shared, uint32_t leading_step,
                                                     uint32_t stride_step) {
  constexpr uint64_t kSwizzle128 = uint64_t(1) << 62;
  return uint64_t((shared_address(shared) & 0x3ffff) >> 4) | uint64_t(leading_step >> 4) << 16 |
         uint64_t(stride_step >> 4) << 32 | kSwizzle128;
}

// The instruction names all of a lane's sums, so each width is text of its own: these are the names
// of the first 8, 16 … sums, as they stand in the text and as operands.
// clang-format off
#define RIDGE_NAMES_8 \
  "%0, %1, %2, %3, %4, %5, %6, %7"
#define RIDGE_NAMES_16 RIDGE_NAMES_8 \
  ", %8, %9, %10, %11, %12, %13, %14, %15"
#define RIDGE_NAMES_32 RIDGE_NAMES_16 \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define RIDGE_NAMES_48 RIDGE_NAMES_32 \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define RIDGE_NAMES_56 RIDGE_NAMES_48 \
  ", %48, %49, %50, %51, %52, %53, %54, %55"
#define RIDGE_NAMES_64 RIDGE_NAMES_56 \
  ", %56, %57, %58, %59, %60, %61, %62, %63"
#define RIDGE_NAMES_72 RIDGE_NAMES_64 \
  ", %64, %65, %66, %67, %68, %69, %70, %71"
#define RIDGE_NAMES_80 RIDGE_NAMES_72 \
  ", %72, %73, %74, %75, %76, %77, %78, %79"
#define RIDGE_NAMES_96 RIDGE_NAMES_80 \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define RIDGE_NAMES_128 RIDGE_NAMES_96 \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define RIDGE_EIGHT(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
  "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define RIDGE_SUMS_8 RIDGE_EIGHT(0)
#define RIDGE_SUMS_16 RIDGE_SUMS_8, \
  RIDGE_EIGHT(8)
#define RIDGE_SUMS_32 RIDGE_SUMS_16, \
  RIDGE_EIGHT(16), RIDGE_EIGHT(24)
#define RIDGE_SUMS_48 RIDGE_SUMS_32, \
  RIDGE_EIGHT(32), RIDGE_EIGHT(40)
#define RIDGE_SUMS_56 RIDGE_SUMS_48, \
  RIDGE_EIGHT(48)
#define RIDGE_SUMS_64 RIDGE_SUMS_56, \
  RIDGE_EIGHT(56)
#define RIDGE_SUMS_72 RIDGE_SUMS_64, \
  RIDGE_EIGHT(64)
#define RIDGE_SUMS_80 RIDGE_SUMS_72, \
  RIDGE_EIGHT(72)
#define RIDGE_SUMS_96 RIDGE_SUMS_80, \
  RIDGE_EIGHT(80), RIDGE_EIGHT(88)
#define RIDGE_SUMS_128 RIDGE_SUMS_96, \
  RIDGE_EIGHT(96), RIDGE_EIGHT(104), RIDGE_EIGHT(112), RIDGE_EIGHT(120)
// Behind the sums stand the operands number A: both descriptors, whether it adds, both turns.
#define RIDGE_WGMMA(FORMAT, N, SUMS, A, B, ADDS, TURN_A, TURN_B)                                 \
  asm volatile(                                                                                  \
      "{\n"                                                                                      \
      "  .reg .pred adds;\n"                                                                     \
      "  setp.ne.b32 adds, %" #ADDS ", 0;\n"                                                     \
      "  wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." FORMAT "." FORMAT "\n"                 \
      "  {" RIDGE_NAMES_##SUMS "}, %" #A ", %" #B ", adds, 1, 1, %" #TURN_A ", %" #TURN_B ";\n"  \
      "}\n"                                                                                      \
      : RIDGE_SUMS_##SUMS                                                                        \
      : "l"(a), "l"(b), "r"(int(adds)), "n"(kTurnA), "n"(kTurnB))
// tf32: the depth is contiguous in both operands, so nothing is turned.
#define RIDGE_WGMMA_TF32(N, SUMS, A, B, ADDS)                                                    \
  asm volatile(                                                                                  \
      "{\n"                                                                                      \
      "  .reg .pred adds;\n"                                                                     \
      "  setp.ne.b32 adds, %" #ADDS ", 0;\n"                                                     \
      "  wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32\n"                              \
      "  {" RIDGE_NAMES_##SUMS "}, %" #A ", %" #B ", adds, 1, 1;\n"                              \
      "}\n"                                                                                      \
      : RIDGE_SUMS_##SUMS                                                                        \
      : "l"(a), "l"(b), "r"(int(adds)))
#define RIDGE_WGMMA_TF32_REGISTERS(N, SUMS, A0, A1, A2, A3, B, ADDS)                             \
  asm volatile(                                                                                  \
      "{\n"                                                                                      \
      "  .reg .pred adds;\n"                                                                     \
      "  setp.ne.b32 adds, %" #ADDS ", 0;\n"                                                     \
      "  wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32\n"                              \
      "  {" RIDGE_NAMES_##SUMS "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", adds, 1, 1;\n"  \
      "}\n"                                                                                      \
      : RIDGE_SUMS_##SUMS                                                                        \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(adds)))
#define RIDGE_WGMMA_IF(N, SUMS, ...)                                                             \
  if constexpr (kSums == SUMS && std::is_same_v<T, __half>)                                      \
    RIDGE_WGMMA("f16", N, SUMS, __VA_ARGS__);                                                    \
  else if constexpr (kSums == SUMS) RIDGE_WGMMA("bf16", N, SUMS, __VA_ARGS__)
// clang-format on

// d (64, N) = a (64, 16) b (16, N), plus what d was if it `adds`; N is twice the number of sums.
// kTurnA: the rows of a are contiguous in memory, not its depth; kTurnB: the columns of b are. Lane
// l of warp w has, for each j, columns 8 j + l % 4 * 2 and the next, of row 16 w + l / 4 in d[4 j]
// and d[4 j + 1], and of the row 8 further down in d[4 j + 2] and d[4 j + 3].
template <class T, int kTurnA, int kTurnB, int kSums>
__device__ __forceinline__ void wgmma_64xNx16(float (&d)[kSums], uint64_t a, uint64_t b,
                                              bool adds) {
  static_assert(std::is_same_v<T, __nv_bfloat16> || std::is_same_v<T, __half>);
  static_assert(kSums == 8 || kSums == 16 || kSums == 32 || kSums == 48 || kSums == 56 ||
                kSums == 64 || kSums == 72 || kSums == 80 || kSums == 96 || kSums == 128);
  RIDGE_WGMMA_IF(16, 8, 8, 9, 10, 11, 12);
  RIDGE_WGMMA_IF(32, 16, 16, 17, 18, 19, 20);
  RIDGE_WGMMA_IF(64, 32, 32, 33, 34, 35, 36);
  RIDGE_WGMMA_IF(96, 48, 48, 49, 50, 51, 52);
  RIDGE_WGMMA_IF(112, 56, 56, 57, 58, 59, 60);
  RIDGE_WGMMA_IF(128, 64, 64, 65, 66, 67, 68);
  RIDGE_WGMMA_IF(144, 72, 72, 73, 74, 75, 76);
  RIDGE_WGMMA_IF(160, 80, 80, 81, 82, 83, 84);
  RIDGE_WGMMA_IF(192, 96, 96, 97, 98, 99, 100);
  RIDGE_WGMMA_IF(256, 128, 128, 129, 130, 131, 132);
}

// d (64, N) = a (64, 8) b (8, N) in tf32: the low 13 bits of an f32 are not looked at. The depth is
// contiguous in both operands.
template <int kSums>
__device__ __forceinline__ void wgmma_64xNx8(float (&d)[kSums], uint64_t a, uint64_t b, bool adds) {
  static_assert(kSums == 16 || kSums == 32 || kSums == 64 || kSums == 128);
  if constexpr (kSums == 16) RIDGE_WGMMA_TF32(32, 16, 16, 17, 18);
  if constexpr (kSums == 32) RIDGE_WGMMA_TF32(64, 32, 32, 33, 34);
  if constexpr (kSums == 64) RIDGE_WGMMA_TF32(128, 64, 64, 65, 66);
  if constexpr (kSums == 128) RIDGE_WGMMA_TF32(256, 128, 128, 129, 130);
}
// The same with a in registers, which must not change before the product is complete. Lane l of
// warp w has levels l % 4, and l % 4 + 4 in a[2] and a[3], of row 16 w + l / 4, and of the row 8
// further down in a[1] and a[3].
template <int kSums>
__device__ __forceinline__ void wgmma_64xNx8(float (&d)[kSums], const uint32_t (&a)[4], uint64_t b,
                                             bool adds) {
  static_assert(kSums == 16 || kSums == 32 || kSums == 64 || kSums == 128);
  if constexpr (kSums == 16) RIDGE_WGMMA_TF32_REGISTERS(32, 16, 16, 17, 18, 19, 20, 21);
  if constexpr (kSums == 32) RIDGE_WGMMA_TF32_REGISTERS(64, 32, 32, 33, 34, 35, 36, 37);
  if constexpr (kSums == 64) RIDGE_WGMMA_TF32_REGISTERS(128, 64, 64, 65, 66, 67, 68, 69);
  if constexpr (kSums == 128) RIDGE_WGMMA_TF32_REGISTERS(256, 128, 128, 129, 130, 131, 132, 133);
}

#undef RIDGE_WGMMA_IF
#undef RIDGE_WGMMA_TF32
#undef RIDGE_WGMMA_TF32_REGISTERS
#undef RIDGE_WGMMA
#undef RIDGE_EIGHT
#undef RIDGE_SUMS_8
#undef RIDGE_SUMS_16
#undef RIDGE_SUMS_32
#undef RIDGE_SUMS_48
#undef RIDGE_SUMS_56
#undef RIDGE_SUMS_64
#undef RIDGE_SUMS_72
#undef RIDGE_SUMS_80
#undef RIDGE_SUMS_96
#undef RIDGE_SUMS_128
#undef RIDGE_NAMES_8
#undef RIDGE_NAMES_16
#undef RIDGE_NAMES_32
#undef RIDGE_NAMES_48
#undef RIDGE_NAMES_56
#undef RIDGE_NAMES_64
#undef RIDGE_NAMES_72
#undef RIDGE_NAMES_80
#undef RIDGE_NAMES_96
#undef RIDGE_NAMES_128

// Registers move from the warpgroups that give them up to those that ask for more; a multiple of 8.
template <int Registers>
__device__ __forceinline__ void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void ask_for_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

// A barrier of some of the block's warps.
__device__ __forceinline__ void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Counts as one of those threads, without waiting for the others.
__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Four 8 x 8 matrices of 16-bit elements from the registers of a warp to shared memory. Lane l
// gives the address of row l % 8 of matrix l / 8; if the matrices are turned, of column l % 8.
template <bool kTurned = false>
__device__ __forceinline__ void stmatrix_x4(void* row, const uint32_t (&values)[4]) {
  if constexpr (kTurned) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     shared_address(row)),
                 "r"(values[0]), "r"(values[1]), "r"(values[2]), "r"(values[3])
                 : "memory");
    return;
  }
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
      "r"(values[0]), "r"(values[1]), "r"(values[2]), "r"(values[3])
      : "memory");
}

}  // namespace ridge::ptx
