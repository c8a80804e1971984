#include "formats_question.h"

#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "verb.h"

namespace ridge::tools {
namespace {

Expected<Question> read_bits(const std::string& text, std::optional<Dtype> dtype) {
  const bool is_hex = text[1] == 'x' || text[1] == 'X';
  std::string digits;
  for (const char c : text.substr(2))
    if (c != '_' && c != '\'') digits += c;
  uint64_t bits = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bits, is_hex ? 16 : 2);
  if (error != std::errc() || end != digits.data() + digits.size())
    return Error{
        kUsage,
        fmt::format("'{}' is not a pattern of up to 64 bits; write 0x3c00 or 0b0111_1110", text)};
  const int width = dtype ? bits_of(*dtype) : int(digits.size()) * (is_hex ? 4 : 1);
  if (width < 64 && bits >> width)
    return Error{kUsage, fmt::format("'{}' does not fit in {}, which has {} bits", text,
                                     name_of(*dtype), width)};
  for (const NumberFormat& f : kNumberFormats)
    if (f.bits == width) return Question{.number = {}, .bits = bits, .width = width};
  return Error{kUsage, fmt::format("'{}' has {} bits; formats have 4, 6, 8, 16, 32 or 64. Write "
                                   "leading zeros, or name a format with --dtype",
                                   text, width)};
}

}  // namespace

std::optional<double> read_number(std::string_view text) {
  const bool plus = text.starts_with("+");
  if (plus) text.remove_prefix(1);
  const bool negative = text.starts_with("-");
  if (negative && plus) return std::nullopt;
  std::string_view digits = text.substr(negative ? 1 : 0);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");  // 0x1.8p3
  if (hexadecimal) digits.remove_prefix(2);
  double value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value,
                      hexadecimal ? std::chars_format::hex : std::chars_format::general);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.starts_with("-"))
    return std::nullopt;
  return negative ? -value : value;
}

Expected<Question> read_question(const std::string& text, std::optional<Dtype> dtype) {
  if (const auto number = read_number(text); number && text.find_first_of("pP") != text.npos)
    return Question{.number = number, .bits = {}};  // a hexadecimal number has an exponent
  const bool is_pattern = text.size() > 2 && text[0] == '0' && std::strchr("xXbB", text[1]);
  if (is_pattern) return read_bits(text, dtype);
  if (const auto number = read_number(text)) return Question{.number = number, .bits = {}};
  return Error{kUsage, fmt::format("'{}' is neither a number that f64 holds (3.14, 1e-7, inf, nan, "
                                   "-0) nor bits (0x3c00, 0b0111_1110)",
                                   text)};
}

}  // namespace ridge::tools
