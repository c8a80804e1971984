// Kinds of arithmetic, each with a rate of its own on a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ridge {

enum class Arithmetic : uint8_t {
  f32,          // multiply-adds, two operations each
  f64,          //
  f16,          // pairs of f16 or bf16 in the FMA pipe
  integer,      // 32-bit: sums, logic and products
  special,      // ex2, rsqrt, sin
  tensor_f16,   // products of matrices on the tensor cores: f16 and bf16
  tensor_tf32,  //
  tensor_fp8,   //
  tensor_int8,  //
  tensor_f64,   //
};
inline constexpr size_t kArithmetics = 10;
inline constexpr std::array<std::string_view, kArithmetics> kArithmeticNames = {
    "f32",        "f64",         "f16",        "integer",     "special",
    "tensor f16", "tensor tf32", "tensor fp8", "tensor int8", "tensor f64"};

constexpr std::string_view name_of(Arithmetic kind) { return kArithmeticNames[size_t(kind)]; }
constexpr std::optional<Arithmetic> find_arithmetic(std::string_view name) {
  for (size_t i = 0; i < kArithmetics; ++i)
    if (kArithmeticNames[i] == name) return Arithmetic(i);
  return std::nullopt;
}

}  // namespace ridge
