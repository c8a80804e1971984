// Ordinary kernels, as courses and blogs have them, to compare the model of time with: not tuned,
// and no rung of ours. One launch each; `programs.cu` times them.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace programs {

// What the kernels read and write. Floats are in [0, 1); `index` holds random numbers below
// kElements; `bytes` is text-like. All of them are larger than the L2 of today's cards.
constexpr int kElements = 1 << 24;
struct Buffers {
  float *a, *b, *c;      // 4 * kElements floats each
  double *da, *db, *dc;  // kElements
  int* index;            // kElements
  unsigned char* bytes;  // 4 * kElements
  unsigned* counts;      // kElements, zero
};

struct Program {
  const char* name;
  const char* what;
  void (*launch)(const Buffers&, cudaStream_t);
  // Whether it is right, at a small size; for programs that are easily wrong.
  bool (*check)(const Buffers&, cudaStream_t) = nullptr;
};
void add_streaming(std::vector<Program>&);
void add_stencils(std::vector<Program>&);
void add_matrices(std::vector<Program>&);
void add_collective(std::vector<Program>&);
void add_arithmetic(std::vector<Program>&);
void add_irregular(std::vector<Program>&);
// What only Hopper can do: none elsewhere.
void add_hopper_copies(std::vector<Program>&);
void add_hopper_products(std::vector<Program>&);

}  // namespace programs
