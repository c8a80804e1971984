#include "vm/observe/fragments.h"

#include <algorithm>

#include "vm/isa/matrix.h"

namespace ridge::vm::observe {
namespace {

constexpr uint32_t kRowBytes = 16, kRows = 8;  // of a matrix

template <class F>
FragmentAccess by_lanes(uint32_t bytes, F address) {
  FragmentAccess out;
  out.access.bytes = bytes;
  out.access.mask = ~0u;
  for (uint32_t lane = 0; lane < 32; ++lane) out.access.address[lane] = address(lane);
  return out;
}

// Eight lines at a time, as much of each as four lanes hold.
std::vector<FragmentAccess> in_tiles(const WmmaTile& tile, uint32_t bytes) {
  const uint32_t line_bytes = tile.width * uint32_t(bits_of(tile.element)) / 8;
  std::vector<FragmentAccess> out;
  for (uint32_t first = 0; first < tile.lines; first += kRows)
    for (uint32_t column = 0; column < line_bytes; column += 4 * bytes)
      out.push_back(by_lanes(bytes, [&](uint32_t lane) {
        return tile.base + (first + lane / 4) * tile.pitch / 8 + column + lane % 4 * bytes;
      }));
  return out;
}

std::vector<FragmentAccess> in_matrices(const WmmaTile& tile) {
  const uint32_t line_bytes = tile.width * uint32_t(bits_of(tile.element)) / 8;
  std::vector<uint64_t> rows;
  for (uint32_t first = 0; first < tile.lines; first += kRows)
    for (uint32_t column = 0; column < line_bytes; column += kRowBytes)
      for (uint32_t line = first; line < first + kRows; ++line)
        rows.push_back(tile.base + line * tile.pitch / 8 + column);
  std::vector<FragmentAccess> out;
  for (size_t done = 0; done < rows.size(); done += 32) {
    const auto count = uint32_t(std::min<size_t>(32, rows.size() - done));
    FragmentAccess one;
    one.matrices = count / kRows;
    one.access.bytes = kRowBytes;
    one.access.mask = count == 32 ? ~0u : (1u << count) - 1;
    std::copy_n(rows.begin() + long(done), count, one.access.address.begin());
    out.push_back(one);
  }
  return out;
}

// Neighbours along K lie a line apart: each is an access of its own.
std::vector<FragmentAccess> across_lines(const WmmaTile& tile) {
  const auto bytes = uint32_t(std::max(1, bits_of(tile.element) / 8));
  const uint32_t held = std::max(1u, 4 / bytes);  // elements of a register
  std::vector<FragmentAccess> out;
  for (uint32_t k = 0; k < tile.lines; k += 4 * held)
    for (uint32_t first = 0; first < tile.width; first += kRows)
      for (uint32_t part = 0; part < held; ++part)
        out.push_back(by_lanes(bytes, [&](uint32_t lane) {
          return tile.base + (k + lane % 4 * held + part) * tile.pitch / 8 +
                 (first + lane / 4) * bytes;
        }));
  return out;
}

// Sums of 32 and 64 bits: lane 4 r + t has columns 2 t and 2 t + 1 of row r.
std::vector<FragmentAccess> sums(const WmmaTile& tile) {
  const Geometry g(tile.form);
  const auto bytes = uint32_t(bits_of(tile.element) / 8);
  const bool neighbours = tile.by_column == g.transposed;
  const uint32_t count = sum_registers(g, tile.element), step = neighbours ? 2 : 1;
  std::vector<FragmentAccess> out;
  for (uint32_t i = 0; i < count; i += step)
    out.push_back(by_lanes(step * bytes, [&](uint32_t lane) {
      auto [row, column] = place_in_sums(g, false, i, lane, 0);
      if (g.transposed) std::swap(row, column);
      const uint64_t line = tile.by_column ? column : row, inside = tile.by_column ? row : column;
      return tile.base + line * tile.pitch / 8 + inside * bytes;
    }));
  return out;
}

}  // namespace

bool moves_matrices(const Match& match) {
  const WmmaMove move = wmma_move(match.handlers);
  if (!move.in_shared || move.role == WmmaRole::sums) return false;
  if (move.element == Element::f16 || move.element == Element::bf16) return true;
  return (move.element == Element::s8 || move.element == Element::u8) && move.depth_first();
}

std::vector<FragmentAccess> accesses_of(const WmmaTile& tile, bool as_matrices) {
  if (as_matrices) return in_matrices(tile);
  const int bits = bits_of(tile.element);
  if (tile.role == WmmaRole::sums) return bits == 16 ? in_tiles(tile, 4) : sums(tile);
  if (bits == 16) return in_tiles(tile, 4);  // turned in registers where K is the other way
  return tile.depth_first() ? in_tiles(tile, bits == 64 ? 8 : 4) : across_lines(tile);
}

}  // namespace ridge::vm::observe
