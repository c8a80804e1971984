// PTX's fundamental types and state spaces, as the parser names them and the instruction tables use
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ridge::vm {

enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f32,
  f64,
  bf16,
  tf32,
  u16x2,
  s16x2,
  f16x2,
  bf16x2,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  texref,
  samplerref,
  surfref,
};

enum class Space : uint8_t { generic, reg, global, constant, shared, local, param };

// Bytes one element takes in memory; 0 for predicates and opaque types.
int size_of(Type type);
std::string_view name_of(Type type);                        // "u32"
std::string_view name_of(Space space);                      // "global"
std::optional<Type> type_from_name(std::string_view name);  // without the dot

}  // namespace ridge::vm
