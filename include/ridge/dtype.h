// The number formats a tensor can hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridge {

enum class Dtype : std::uint8_t { f32, f16, bf16, f64, i32, i64, u32, u8 };

constexpr std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
    case Dtype::i64: return 8;
    case Dtype::f32:
    case Dtype::i32:
    case Dtype::u32: return 4;
    case Dtype::f16:
    case Dtype::bf16: return 2;
    case Dtype::u8: return 1;
  }
  return 0;
}

constexpr const char* name_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return "f32";
    case Dtype::f16: return "f16";
    case Dtype::bf16: return "bf16";
    case Dtype::f64: return "f64";
    case Dtype::i32: return "i32";
    case Dtype::i64: return "i64";
    case Dtype::u32: return "u32";
    case Dtype::u8: return "u8";
  }
  return "?";
}

constexpr bool is_floating(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16 || dtype == Dtype::f64;
}

}  // namespace ridge
