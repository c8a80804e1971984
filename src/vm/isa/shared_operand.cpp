#include "vm/isa/shared_operand.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ridge::vm {
namespace {

// Eight rows of eight 16-bit elements to columns.
void transpose(const uint16_t (*from)[8], uint16_t (*to)[8]) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) to[j][i] = from[i][j];
}

}  // namespace

SharedOperand::SharedOperand(uint64_t descriptor, bool transposed) : transposed_(transposed) {
  static constexpr uint32_t kLogSpan[] = {4, 7, 6, 5};
  static constexpr uint32_t kSwizzled[] = {0, 7, 3, 1};  // rows of the pattern, less one
  const auto field = [&](int shift) { return uint32_t(descriptor >> shift & 0x3fff) << 4; };
  const uint32_t mode = uint32_t(descriptor >> 62);
  start_ = field(0);
  along_step_ = field(16);
  across_step_ = field(32);
  base_offset_ = uint32_t(descriptor >> 49 & 7);
  log_span_ = kLogSpan[mode];
  swizzled_ = kSwizzled[mode];
  // The only case in which the two offsets change places.
  if (transposed && mode == 0) std::swap(along_step_, across_step_);
}

void SharedOperand::read_tile(const uint8_t* shared, uint32_t row, uint32_t byte,
                              uint32_t* tile) const {
  if (!transposed_) {
    for (uint32_t i = 0; i < 8; ++i) std::memcpy(tile + 4 * i, shared + place(byte, row + i), 16);
    return;
  }
  uint16_t columns[8][8], rows[8][8];
  for (uint32_t i = 0; i < 8; ++i)
    std::memcpy(columns[i], shared + place(2 * row, byte / 2 + i), 16);
  transpose(columns, rows);
  std::memcpy(tile, rows, sizeof rows);
}

bool SharedOperand::read_pairs(const uint8_t* shared, uint32_t groups, uint32_t* tiles) const {
  constexpr uint32_t kPieces = 16;  // of a group
  const auto piece = [](const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  // Where groups are so far apart that they are swizzled alike, one group's places tell all.
  if (transposed_ || (swizzled_ && across_step_ % 1024)) {
    bool changed = false;
    for (uint32_t i = 0; i < 2 * groups; ++i) {
      uint32_t tile[32];
      read_tile(shared, 8 * (i / 2), 16 * (i % 2), tile);
      changed |= std::memcmp(tile, tiles + 32 * i, sizeof tile) != 0;
      std::memcpy(tiles + 32 * i, tile, sizeof tile);
    }
    return changed;
  }
  uint32_t places[kPieces];
  for (uint32_t i = 0; i < kPieces; ++i) places[i] = place(16 * (i / 8), i % 8);
  __m128i changed = _mm_setzero_si128();
  for (uint32_t g = 0; g < groups; ++g)
    for (uint32_t i = 0; i < kPieces; ++i)
      changed = _mm_or_si128(changed, _mm_xor_si128(piece(shared + g * across_step_ + places[i]),
                                                    piece(tiles + 4 * (kPieces * g + i))));
  if (_mm_movemask_epi8(_mm_cmpeq_epi8(changed, _mm_setzero_si128())) == 0xffff) return false;
  for (uint32_t g = 0; g < groups; ++g)
    for (uint32_t i = 0; i < kPieces; ++i)
      std::memcpy(tiles + 4 * (kPieces * g + i), shared + g * across_step_ + places[i], 16);
  return true;
}

bool SharedOperand::ends_before(uint64_t limit, uint32_t rows, uint32_t bytes) const {
  const uint32_t along = transposed_ ? 2 * rows : bytes, across = transposed_ ? bytes / 2 : rows;
  // A bound that is nearly always enough: swizzling stays within 128 bytes.
  const uint64_t last =
      start_ + uint64_t((along - 1) >> log_span_) * along_step_ + std::min(along, 1u << log_span_) -
      1 + uint64_t((across - 1) / 8) * across_step_ + ((std::min(across, 8u) - 1) << log_span_);
  if ((last | 127) < limit) return true;
  for (uint32_t i = 0; i < along; i += 16)
    for (uint32_t j = 0; j < across; ++j)
      if (place(i, j) + 16ull > limit) return false;
  return true;
}

}  // namespace ridge::vm
