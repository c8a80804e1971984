// How many lanes work on a row, and on how many rows and packs each of them works at once.
#pragma once

#include <cstdint>
#include <iterator>
#include <utility>

#include "device/lanes.cuh"

namespace ridge::gemv {

// lanes: threads that share a row. Up to 32 lanes are part of a warp; more lanes are the block.
// unroll: packs of a row that a lane has under way.
// rows: that a lane works on at once. They share packs of x where they can.
struct Shape {
  int lanes, unroll, rows;

  constexpr bool operator==(const Shape&) const = default;
  __host__ __device__ constexpr int threads() const { return lanes > 128 ? lanes : 128; }
  __host__ __device__ constexpr int rows_per_block() const { return threads() / lanes * rows; }
  // A turn: the packs of a row that its lanes load at once.
  __host__ __device__ constexpr int turn() const { return lanes * unroll; }
  // For rows that are not longer than a turn.
  __host__ __device__ constexpr bool is_short() const { return turn() <= 64; }
  // As many as there are registers for.
  __host__ __device__ constexpr int blocks_per_sm(size_t element) const {
    return (is_short() ? 32 : element == 2 && rows > 1 ? 20 : 24) * kWarpSize / threads();
  }
};
constexpr Shape kShapes[] = {{4, 1, 4},  {8, 1, 4},   {16, 1, 4},
                             {32, 1, 4}, {32, 2, 4},  // short rows, from the shortest on
                             {32, 4, 2}, {128, 4, 2}, {256, 4, 2},
                             {32, 4, 1}, {128, 4, 1}, {256, 4, 1}};  // rows that share no x

// The shape for rows of so many packs, if they are short.
inline const Shape* short_shape_for(int64_t packs) {
  for (const Shape& shape : kShapes)
    if (shape.is_short() && packs <= shape.turn()) return &shape;
  return nullptr;
}
// For longer rows; rows: 2, or 1 if they share no x.
inline Shape long_shape_for(int64_t packs, int rows, size_t element) {
  // For two-byte formats there are registers for five blocks of 128 threads, but only for two
  // blocks of 256.
  const int lanes = packs < 512 ? 32 : packs < 4096 || element == 2 ? 128 : 256;
  return {lanes, 4, rows};
}

// Calls f with the type whose `value` is this shape, for kernels that take it as template
// arguments.
template <size_t I>
struct ShapeAt {
  static constexpr Shape value = kShapes[I];
};
template <class F, size_t... I>
void with_shape_of(const Shape& shape, F f, std::index_sequence<I...>) {
  (void)((shape == kShapes[I] && (f(ShapeAt<I>()), true)) || ...);
}
template <class F>
void with_shape(const Shape& shape, F f) {
  with_shape_of(shape, f, std::make_index_sequence<std::size(kShapes)>());
}

}  // namespace ridge::gemv
