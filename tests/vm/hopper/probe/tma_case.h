// Copies of tensors that are recorded: the map, the coordinates and where they go.
//
// Global memory is `kBuffer` bytes made from a seed; shared memory starts as kPoison (loads) or is
// made from a seed (stores and reductions).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "values.h"

namespace ridge::hopper {

inline constexpr uint32_t kBuffer = 1 << 18, kShared = 1 << 15, kStoreWindow = 1 << 15;
inline constexpr uint8_t kPoison = 0xa5;

enum class TmaOp { load, store, reduce, prefetch };
inline constexpr const char* kReduceNames[] = {"add", "min", "max", "inc",
                                               "dec", "and", "or",  "xor"};

struct TmaCase {
  std::string group;
  TmaOp op = TmaOp::load;
  int reduce = 0;  // index in kReduceNames
  bool im2col = false;
  int type = 7;  // CUtensorMapDataType
  int rank = 2;
  std::array<uint64_t, 5> dims{};                // elements
  std::array<uint64_t, 4> strides{};             // bytes
  std::array<uint32_t, 5> box{};                 // elements
  std::array<uint32_t, 5> steps{1, 1, 1, 1, 1};  // elementStrides
  std::array<int, 3> lower{}, upper{};
  uint32_t channels = 0, pixels = 0;
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  uint64_t address = 0;     // bytes into the buffer
  std::array<int, 5> at{};  // coordinates
  std::array<uint16_t, 3> offsets{};
  uint32_t shared = 0;  // bytes from a multiple of 1024

  std::string name() const;
};

int bytes_of_type(int type);
std::vector<TmaCase> tma_cases();
std::vector<uint8_t> tma_global();                  // loads
std::vector<uint8_t> tma_shared(const TmaCase& c);  // stores, reductions
std::vector<uint8_t> tma_target(const TmaCase& c);  // what stores and reductions find

}  // namespace ridge::hopper
