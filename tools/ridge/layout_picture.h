// A layout (core/layout.h) as a grid: where each element lies, and in which bank of shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/layout.h"
#include "core/status.h"

namespace ridge::tools {

class LayoutPicture {
 public:
  static constexpr int64_t kMostCells = 1 << 14;

  // `element_bytes`: 1, 2, 4, 8 or 16. The swizzle works on bytes.
  static Expected<LayoutPicture> make(const layouts::Layout& layout,
                                      const std::optional<layouts::Swizzle>& swizzle,
                                      int64_t element_bytes);

  int64_t rows() const { return layout_.size(0); }
  int64_t cols() const { return layout_.size() / rows(); }
  int64_t offset(int64_t row, int64_t col) const;  // in elements, swizzled
  int bank(int64_t row, int64_t col) const;        // of its first byte
  // Wavefronts of a warp whose lanes read neighbours of a row (or of a column), one element each;
  // the worst of them all. 1: no bank conflicts.
  int wavefronts_along_rows() const;
  int wavefronts_along_columns() const;

  std::string text() const;  // for a terminal, with colours where it has them
  std::string svg() const;
  nlohmann::json json() const;

 private:
  LayoutPicture(const layouts::Layout& layout, const std::optional<layouts::Swizzle>& swizzle,
                int64_t element_bytes)
      : layout_(layout), swizzle_(swizzle), element_bytes_(element_bytes) {}
  template <class Offset>
  int worst(int64_t lines, int64_t length, Offset offset) const;
  std::string summary() const;

  layouts::Layout layout_;
  std::optional<layouts::Swizzle> swizzle_;
  int64_t element_bytes_;
};

}  // namespace ridge::tools
