// Arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col that are recorded: good ones with
// one thing changed.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ridge::hopper {

struct MapArguments {
  bool to_16 = false;  // written 16 bytes behind a multiple of 64
  bool no_place = false, no_dims = false, no_strides = false, no_box = false, no_steps = false;
  int type = 7, rank = 5;
  uint64_t address = 0x7f1234567000;
  uint64_t dims[5] = {64, 32, 16, 8, 4}, strides[4] = {256, 8192, 131072, 1048576};
  uint32_t box[5] = {16, 2, 2, 2, 2}, steps[5] = {1, 1, 1, 1, 1};
  int lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0};
  uint32_t channels = 16, pixels = 32;
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

struct MapCase {
  bool im2col = false;
  int rank = 5;
  std::string what;  // was changed
  MapArguments m;

  std::string name() const;
  // Calls one of the two; `bytes` are 192, at a multiple of 64.
  CUresult encode(decltype(&cuTensorMapEncodeTiled) tiled,
                  decltype(&cuTensorMapEncodeIm2col) columns, uint8_t* bytes) const;
};
// Null pointers, which may crash a driver.
std::vector<MapCase> null_pointer_cases(bool im2col);
std::vector<MapCase> tensor_map_cases();

}  // namespace ridge::hopper
