// What the user of `ridge formats` asks about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/status.h"
#include "ridge/dtype.h"

namespace ridge::tools {

// A number, or a pattern of `width` bits.
struct Question {
  std::optional<double> number;
  std::optional<uint64_t> bits;
  int width = 0;
};

std::optional<double> read_number(std::string_view text);  // 3.14, -1e-7, inf, nan, 0x1.8p3
// With a dtype, a pattern has the width of that.
Expected<Question> read_question(const std::string& text, std::optional<Dtype> dtype);

}  // namespace ridge::tools
