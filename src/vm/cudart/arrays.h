// CUDA arrays: texels that only copies, textures and surfaces reach.
#pragma once

#include <memory>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/cudart/copy.h"
#include "vm/texture/image.h"

namespace ridge::vm::cudart {

struct Array {
  cudaChannelFormatDesc desc{};
  cudaExtent extent{};  // as asked for: 0 where the array has no such dimension
  unsigned flags = 0;
  texture::Image image;        // of one level
  uint64_t allocation_id = 0;  // of the memory the texels lie in
  bool is_level = false;       // of a mipmapped array, which owns the memory

  const texture::Level& level() const { return image.levels.front(); }
  uint32_t texel_bytes() const { return image.format.bytes(); }
  size_t row_bytes() const { return size_t(level().width) * texel_bytes(); }
  size_t slices() const { return image.layers ? image.layers : level().depth; }
};
using ArrayRef = std::shared_ptr<Array>;

struct MipmappedArray {
  cudaChannelFormatDesc desc{};
  cudaExtent extent{};
  unsigned flags = 0;
  std::vector<ArrayRef> levels;
};
using MipmappedRef = std::shared_ptr<MipmappedArray>;

cudaError_t make_array(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                       unsigned flags);
cudaError_t make_mipmapped(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc,
                           cudaExtent extent, unsigned levels, unsigned flags);
ArrayRef find_array(cudaArray_const_t handle);  // null: no such array
MipmappedRef find_mipmapped(cudaMipmappedArray_const_t handle);
// Once all work is done, as cudaFree.
cudaError_t free_array(cudaArray_t handle);
cudaError_t free_mipmapped(cudaMipmappedArray_t handle);
void forget_arrays();  // their memory has been released

// The box of an array that starts at byte x of row y of slice z; false when `extent` does not fit.
bool box_in(const Array& array, size_t x, size_t y, size_t z, const BoxExtent& extent, Box* box);
// The array whose texels `address` is one of, and where; null for other memory.
ArrayRef array_holding(const void* address, cudaPos* at);

}  // namespace ridge::vm::cudart
