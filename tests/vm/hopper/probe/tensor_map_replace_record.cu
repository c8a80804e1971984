// What tensormap.replace makes of a map's 128 bytes, one field at a time, in shared and in global
// memory.
//
//   tensor_map_replace_record FILE
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

// X(text of the line, field and type, operands after the address)
#define FIELDS(X)                                                                                  \
  X("global_address 0x7f1234567040", "global_address", "b64", "0x7f1234567040")                    \
  X("rank 0", "rank", "b32", "0")                                                                  \
  X("rank 2", "rank", "b32", "2")                                                                  \
  X("rank 4", "rank", "b32", "4") X("box_dim 0 8", "box_dim", "b32", "0, 8") X(                    \
      "box_dim 1 9", "box_dim", "b32", "1, 9") X("box_dim 2 10", "box_dim", "b32", "2, 10")        \
      X("box_dim 3 256", "box_dim", "b32", "3, 256") X(                                            \
          "box_dim 4 300", "box_dim", "b32", "4, 300") X("box_dim 1 0", "box_dim", "b32", "1, 0")  \
          X("global_dim 0 65", "global_dim", "b32", "0, 65") X(                                    \
              "global_dim 1 33", "global_dim", "b32",                                              \
              "1, 33") X("global_dim 2 1000", "global_dim", "b32",                                 \
                         "2, 1000") X("global_dim 3 0", "global_dim", "b32", "3, 0")               \
              X("global_dim 4 0xffffffff", "global_dim", "b32", "4, 0xffffffff") X(                \
                  "global_stride 0 512", "global_stride", "b64",                                   \
                  "0, 512") X("global_stride 1 0x123450", "global_stride", "b64", "1, 0x123450")   \
                  X("global_stride 2 0xfffffffff0", "global_stride", "b64", "2, 0xfffffffff0") X(  \
                      "global_stride 3 0x1000000000010", "global_stride", "b64",                   \
                      "3, 0x1000000000010") X("global_stride 0 8", "global_stride", "b64", "0, 8") \
                      X("element_stride 0 2", "element_stride", "b32", "0, 2") X(                  \
                          "element_stride 1 3",                                                    \
                          "element_stride",                                                        \
                          "b32", "1, 3") X("element_stride 4 8", "element_stride", "b32", "4, 8")  \
                          X("element_stride 2 9", "element_stride", "b32",                         \
                            "2, 9") X("elemtype 0", "elemtype", "b32", "0")                        \
                              X("elemtype 1", "elemtype", "b32",                                   \
                                "1") X("elemtype 2", "elemtype", "b32",                            \
                                       "2") X("elemtype 3", "elemtype", "b32", "3")                \
                                  X("elemtype 4", "elemtype", "b32",                               \
                                    "4") X("elemtype 5", "elemtype", "b32",                        \
                                           "5") X("elemtype 6", "elemtype", "b32", "6")            \
                                      X("elemtype 7", "elemtype", "b32",                           \
                                        "7") X("elemtype 8", "elemtype", "b32",                    \
                                               "8") X("elemtype 9", "elemtype", "b32", "9")        \
                                          X("elemtype 10", "elemtype", "b32", "10") X(             \
                                              "elemtype 11", "elemtype", "b32",                    \
                                              "11") X("elemtype 12", "elemtype", "b32", "12")      \
                                              X("interleave_layout 0", "interleave_layout", "b32", \
                                                "0") X("interleave_layout 1", "interleave_layout", \
                                                       "b32", "1") X("interleave_layout 2",        \
                                                                     "interleave_layout", "b32",   \
                                                                     "2")                          \
                                                  X("swizzle_mode 0", "swizzle_mode", "b32", "0")  \
                                                      X("swizzle_mode 1", "swizzle_mode", "b32",   \
                                                        "1") X("swizzle_mode 2", "swizzle_mode",   \
                                                               "b32", "2")                         \
                                                          X("swizzle_mode 3", "swizzle_mode",      \
                                                            "b32", "3") X("fill_mode 0",           \
                                                                          "fill_mode", "b32", "0") \
                                                              X("fill_mode 1", "fill_mode", "b32", \
                                                                "1")

static const char* const kNames[] = {
#define NAME(text, field, type, rest) text,
    FIELDS(NAME)};
constexpr int kFields = int(sizeof kNames / sizeof *kNames);

__global__ void replace(int which, bool in_shared, CUtensorMap* map) {
  __shared__ __align__(128) CUtensorMap copy;
  copy = *map;
  const auto at = uint32_t(__cvta_generic_to_shared(&copy));
  int i = 0;
#define ONE(text, field, type, rest)                                                         \
  if (i++ == which) {                                                                        \
    if (in_shared)                                                                           \
      asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " rest \
                   ";" ::"r"(at)                                                             \
                   : "memory");                                                              \
    else                                                                                     \
      asm volatile("tensormap.replace.tile." field ".global.b1024." type " [%0], " rest      \
                   ";" ::"l"(map)                                                            \
                   : "memory");                                                              \
  }
  FIELDS(ONE)
  if (in_shared) *map = copy;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (int which = -1; which < kFields; ++which)
    for (bool in_shared : {true, false}) {
      if (which >= 0 && !in_shared && which % 4) continue;
      const pid_t child = fork();
      if (child) {
        waitpid(child, nullptr, 0);
        continue;
      }
      alarm(5);
      void* encode = nullptr;
      cudaDriverEntryPointQueryResult found;
      CUtensorMap* map;
      cudaMalloc(&map, sizeof *map);
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                       &found);
      alignas(64) CUtensorMap host;
      const cuuint64_t dims[] = {64, 32, 16, 8, 4}, strides[] = {256, 8192, 131072, 1048576};
      const cuuint32_t box[] = {16, 2, 2, 2, 2}, steps[] = {1, 1, 1, 1, 1};
      reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
          &host, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 5, reinterpret_cast<void*>(0x7f1234567000), dims,
          strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
      cudaMemcpy(map, &host, sizeof host, cudaMemcpyHostToDevice);
      replace<<<1, 1>>>(which, in_shared, map);
      const cudaError_t error = cudaDeviceSynchronize();
      std::FILE* f = std::fopen(argv[1], "a");
      std::fprintf(f, "%s %s\t%s\t", in_shared ? "shared" : "global",
                   which < 0 ? "nothing" : kNames[which], cudaGetErrorName(error));
      if (error == cudaSuccess) {
        cudaMemcpy(&host, map, sizeof host, cudaMemcpyDeviceToHost);
        uint8_t bytes[128];
        std::memcpy(bytes, &host, 128);
        for (uint8_t b : bytes) std::fprintf(f, "%02x", b);
      }
      std::fprintf(f, "\n");
      std::fclose(f);
      _exit(0);
    }
}
