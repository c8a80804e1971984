// Selectors of the video instructions' operands: "%r1.h0", "%r2.b3210". They are part of the
// operand as written, not of the mnemonic, so the decoder packs them: d's into Wide::x[4], a's into
// x[5], b's into x[6]; 0 or kNoOperand where none is written.
#pragma once

#include <cstdint>
#include <string_view>

namespace ridge::vm {

inline constexpr int kSelectorField = 4;  // of Wide::x
inline constexpr int kMinusField = 0;     // vmad: which of a, b, c are negated, a bit each

// Bits 0-15: the digits, four bits each, the last written lowest. 16-18: how many. 20: set for 'h',
// clear for 'b'. 0 when `text` (without its dot) is no selector.
constexpr uint32_t pack_selector(std::string_view text) {
  if (text.size() < 2 || text.size() > 5 || (text[0] != 'h' && text[0] != 'b')) return 0;
  const bool half = text[0] == 'h';
  if (half && text.size() > 3) return 0;
  uint32_t digits = 0;
  for (char c : text.substr(1)) {
    if (c < '0' || c > (half ? '3' : '7')) return 0;
    digits = digits << 4 | uint32_t(c - '0');
  }
  return digits | uint32_t(text.size() - 1) << 16 | uint32_t(half) << 20;
}

}  // namespace ridge::vm
