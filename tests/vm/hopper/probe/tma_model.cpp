#include "tma_model.h"

#include <algorithm>
#include <functional>

namespace ridge::hopper {
namespace {

uint32_t swizzled(int swizzle, uint32_t address) {
  const uint32_t rows = swizzle == 1 ? 1 : swizzle == 2 ? 3 : swizzle == 3 ? 7 : 0;
  return address ^ (address >> 7 & rows) << 4;
}

// What a copy moves as one: an element, or with an interleaved layout a slice of 16 or 32 bytes.
uint32_t unit_of(const TmaCase& c) {
  return c.interleave ? 16u * uint32_t(c.interleave) : uint32_t(bytes_of_type(c.type));
}

// Bytes from one row of the box to the next in shared memory: a swizzled row takes the whole span.
uint32_t pitch_of(const TmaCase& c) {
  if (c.interleave) return unit_of(c) * ((c.box[0] + c.steps[0] - 1) / c.steps[0]);
  return c.swizzle ? 16u << c.swizzle : (c.im2col ? c.channels : c.box[0]) * unit_of(c);
}

// One element of the box: where it lies in shared memory and, if it is inside the tensor, where in
// global memory.
struct Place {
  uint32_t shared;
  bool inside;
  uint64_t global;
};

// The innermost index ends at the tensor's end for loads; stores write whole pieces of 16 bytes.
int64_t inner_end(const TmaCase& c) {
  if (c.interleave) return int64_t(c.dims[0]);
  const auto size = int64_t(bytes_of_type(c.type));
  const auto end = int64_t(c.dims[0]);
  return c.op == TmaOp::load ? end : (end * size + 15) / 16 * 16 / size;
}

// Both tf32 types round what is loaded: to nearest, ties to even; NaN becomes one NaN.
uint32_t as_tf32(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fffe000;
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  return (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}

// Interleaved: the innermost coordinate and size count slices, the last but one counts channel
// slices, of which the box has one whatever its size says.
void each_tile_element(const TmaCase& c, const std::function<void(const Place&)>& visit) {
  const uint32_t size = unit_of(c);
  std::array<uint32_t, 5> n{1, 1, 1, 1, 1}, i{};
  for (size_t k = 0; k < size_t(c.rank); ++k) n[k] = (c.box[k] + c.steps[k] - 1) / c.steps[k];
  if (c.interleave) n[size_t(c.rank - 2)] = 1;
  else n[0] = c.box[0];  // the innermost step is not looked at
  uint32_t row = 0;
  for (i[4] = 0; i[4] < n[4]; ++i[4])
    for (i[3] = 0; i[3] < n[3]; ++i[3])
      for (i[2] = 0; i[2] < n[2]; ++i[2])
        for (i[1] = 0; i[1] < n[1]; ++i[1], row += pitch_of(c))
          for (i[0] = 0; i[0] < n[0]; ++i[0]) {
            Place p{swizzled(c.swizzle, c.shared + row + i[0] * size), true, c.address};
            for (size_t k = 0; k < size_t(c.rank); ++k) {
              const int64_t g = c.at[k] + int64_t(i[k]) * (k || c.interleave ? c.steps[k] : 1);
              p.inside = p.inside && g >= 0 && g < (k ? int64_t(c.dims[k]) : inner_end(c));
              p.global += uint64_t(g) * (k ? c.strides[k - 1] : size);
            }
            if (c.interleave == 2) {  // swizzling moves 16 bytes at a time
              Place half = p;
              visit(half);
              half.shared = swizzled(c.swizzle, c.shared + row + i[0] * size + 16);
              half.global += 16;
              visit(half);
            } else {
              visit(p);
            }
          }
}

// The box's pixels one after the other: W moves first; from the box's upper end it goes back to the
// lower one and the next dimension moves.
// W is dimension 1, or 0 with an interleaved layout, whose last but one is the channel slice.
void each_im2col_element(const TmaCase& c, const std::function<void(const Place&)>& visit) {
  const uint32_t size = std::min(unit_of(c), 16u);
  const auto rank = size_t(c.rank), space = rank - 2, w = size_t(c.interleave ? 0 : 1);
  const uint32_t pieces = c.interleave ? uint32_t(c.interleave) : c.channels;
  std::array<int, 5> at = c.at;
  for (uint32_t pixel = 0; pixel < c.pixels; ++pixel) {
    for (uint32_t piece = 0; piece < pieces; ++piece) {
      const uint32_t pitch = c.interleave ? unit_of(c) : pitch_of(c);
      Place p{swizzled(c.swizzle, c.shared + pixel * pitch + piece * size), true, c.address};
      for (size_t k = 0; k < rank; ++k) {
        int64_t g = at[k];
        if (k >= w && k < w + space && c.op == TmaOp::load) g += c.offsets[k - w];
        if (k == 0 && !c.interleave) g += piece;
        p.inside = p.inside && g >= 0 && g < (k ? int64_t(c.dims[k]) : inner_end(c));
        p.global += uint64_t(g) * (k ? c.strides[k - 1] : unit_of(c));
      }
      if (c.interleave) p.global += 16 * piece;
      visit(p);
    }
    size_t k = w;
    for (; k < w + space; ++k) {
      at[k] += int(c.steps[k]);
      if (at[k] <= int(c.dims[k]) - 1 + c.upper[k - w]) break;
      at[k] = c.lower[k - w];
    }
    if (k == w + space) at[rank - 1] += int(c.steps[rank - 1]);
  }
}

// --- reductions ---

float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
uint32_t bits_of_float(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
uint32_t flushed(uint32_t bits) { return bits & 0x7f800000 ? bits : bits & 0x80000000; }

// f16 and bf16 as f32 and back, to nearest even.
float widened(int type, uint32_t half) {
  if (type == 9) return float_of(half << 16);
  const uint32_t sign = (half & 0x8000) << 16, e = half >> 10 & 31, m = half & 1023;
  if (e == 31) return float_of(sign | 0x7f800000 | m << 13);
  if (e == 0) return (sign ? -1 : 1) * float(m) * 0x1p-24f;
  return float_of(sign | (e + 112) << 23 | m << 13);
}
uint32_t narrowed(int type, float x) {
  const uint32_t bits = bits_of_float(x);
  if (x != x) return 0x7fff;
  if (type == 9) return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const uint32_t sign = bits >> 16 & 0x8000;
  const float size = std::fabs(x);
  if (size >= 65520.0f) return sign | 0x7c00;
  if (size < 0x1p-14f) return sign | uint32_t(std::nearbyint(size * 0x1p24f));
  const uint32_t u = bits_of_float(size);
  return sign | (u - (112u << 23) + 0xfff + (u >> 13 & 1)) >> 13;
}

}  // namespace

uint64_t tma_combined(int type, const std::string& op, uint64_t old, uint64_t value) {
  if (op == "and") return old & value;
  if (op == "or") return old | value;
  if (op == "xor") return old ^ value;
  if (op == "inc") return old >= value ? 0 : old + 1;
  if (op == "dec") return old == 0 || old > value ? value : old - 1;
  const bool adds = op == "add", least = op == "min";
  switch (type) {
    case 2:
      return adds ? uint32_t(old + value) : least ? std::min(old, value) : std::max(old, value);
    case 3: {
      const auto x = int32_t(old), y = int32_t(value);
      return adds ? uint32_t(old + value) : uint32_t(least ? std::min(x, y) : std::max(x, y));
    }
    case 4: return adds ? old + value : least ? std::min(old, value) : std::max(old, value);
    case 5: {
      const auto x = int64_t(old), y = int64_t(value);
      return uint64_t(least ? std::min(x, y) : std::max(x, y));
    }
    case 6:
    case 9: {
      const float x = widened(type, uint32_t(old)), y = widened(type, uint32_t(value));
      if (adds) return narrowed(type, x + y);
      if (x != x && y != y) return 0x7fff;
      if (x != x) return value;
      if (y != y) return old;
      if (x == y) return least ? std::max(old, value) : std::min(old, value);  // zeros: by sign
      return (x < y) == least ? old : value;
    }
    case 8: {
      double x, y;
      std::memcpy(&x, &old, 8);
      std::memcpy(&y, &value, 8);
      if (x != x) return old;  // a NaN stays as it is, signalling ones too
      if (y != y) return value;
      x += y;
      std::memcpy(&old, &x, 8);
      return old;
    }
    default: {
      const bool flushes = type == 10 || type == 12;
      uint32_t x = uint32_t(old), y = uint32_t(value);
      if (flushes) x = flushed(x), y = flushed(y);
      const float sum = float_of(x) + float_of(y);
      if (sum != sum) return 0x7fffffff;
      return flushes ? flushed(bits_of_float(sum)) : bits_of_float(sum);
    }
  }
}

namespace {

void each_element(const TmaCase& c, const std::function<void(const Place&)>& visit) {
  if (c.im2col) each_im2col_element(c, visit);
  else each_tile_element(c, visit);
}

}  // namespace

uint32_t tma_bytes(const TmaCase& c) {
  uint32_t bytes = 0;
  each_element(c, [&](const Place&) { bytes += std::min(unit_of(c), 16u); });
  return bytes;
}

std::vector<uint8_t> tma_result(const TmaCase& c) {
  const size_t size = std::min(unit_of(c), 16u);
  if (c.op == TmaOp::load) {
    const auto global = tma_global();
    std::vector<uint8_t> shared(kShared, kPoison);
    each_element(c, [&](const Place& p) {
      if (p.shared + size > shared.size()) return;
      uint8_t* to = shared.data() + p.shared;
      if (!p.inside)
        for (size_t i = 0; i < size; ++i) to[i] = !c.fill ? 0 : i % 2 ? 0x7f : 0xf7;
      else if (p.global + size <= global.size()) std::memcpy(to, global.data() + p.global, size);
      if (p.inside && (c.type == 11 || c.type == 12)) {
        uint32_t word;
        std::memcpy(&word, to, 4);
        word = as_tf32(word);
        std::memcpy(to, &word, 4);
      }
    });
    return shared;
  }
  const auto shared = tma_shared(c);
  auto global = tma_target(c);
  each_element(c, [&](const Place& p) {
    if (!p.inside || p.global + size > global.size()) return;
    uint8_t* to = global.data() + p.global;
    uint64_t value = 0, old = 0;
    std::memcpy(&value, shared.data() + p.shared, std::min<size_t>(size, 8));
    std::memcpy(&old, to, std::min<size_t>(size, 8));
    if (c.op == TmaOp::store) {
      std::memcpy(to, shared.data() + p.shared, size);
    } else if (c.op == TmaOp::reduce) {
      value = tma_combined(c.type, kReduceNames[c.reduce], old, value);
      std::memcpy(to, &value, size);
    }
  });
  return global;
}

}  // namespace ridge::hopper
