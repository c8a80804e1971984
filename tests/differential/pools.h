// The registers of a generated program, and the memory each of its threads may use. Shared between
// the statements (generate*.cpp) and the frame around them (text.cpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace ridge::differential {

// A register file: %h0 … %h4. `region` is where in the input its first values are.
struct Pool {
  char letter;
  std::string_view type;  // of its declaration
  uint32_t bytes;         // 0: predicates
  uint32_t count;
  uint32_t region;
  std::string_view holds;
};

enum Region : uint32_t { kIntegers, kFloats, kDoubles, kHalves, kBrains, kRegions };
constexpr uint32_t kRegionBytes = 2048;

constexpr Pool kPools[] = {
    // by falling width, so that their rows in the buffer stay aligned
    {'d', "b64", 8, 5, kIntegers, "64-bit integers"},
    {'e', "f64", 8, 4, kDoubles, "f64"},
    {'r', "b32", 4, 8, kIntegers, "32-bit integers"},
    {'f', "f32", 4, 5, kFloats, "f32"},
    {'x', "b32", 4, 4, kHalves, "f16x2"},
    {'y', "b32", 4, 4, kBrains, "bf16x2"},
    {'h', "b16", 2, 5, kIntegers, "16-bit integers"},
    {'k', "b16", 2, 4, kHalves, "f16"},
    {'b', "b16", 2, 4, kBrains, "bf16"},
    {'p', "pred", 0, 5, kIntegers, "predicates"},
};
constexpr const Pool& pool(char letter) {
  for (const Pool& p : kPools)
    if (p.letter == letter) return p;
  return kPools[0];
}

constexpr uint32_t kScratchBytes = 64;  // a thread, in each of global, shared and local memory

// Cells that all threads add to, 8 bytes each; every operation has its own, so that no order of
// the additions shows.
struct Accumulator {
  std::string_view operation;  // "add.u32"
  char value;                  // pool of the operand
};
constexpr Accumulator kAccumulators[] = {
    {"add.u32", 'r'}, {"add.u64", 'd'}, {"min.u32", 'r'}, {"min.s32", 'r'},
    {"max.u32", 'r'}, {"max.s32", 'r'}, {"min.u64", 'd'}, {"max.s64", 'd'},
    {"and.b32", 'r'}, {"or.b32", 'r'},  {"xor.b32", 'r'}, {"xor.b64", 'd'},
    {"inc.u32", '1'}, {"dec.u32", '1'}, {"add.f32", 'f'}, {"add.f64", 'e'},
};
constexpr uint32_t kCells = 4;  // of each operation
constexpr uint32_t kAccumulatorBytes =
    sizeof(kAccumulators) / sizeof(kAccumulators[0]) * kCells * 8;

}  // namespace ridge::differential
