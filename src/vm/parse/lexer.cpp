#include "vm/parse/lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace ridge::vm::parse {
namespace {

enum : uint8_t { kWord = 1, kDigit = 2, kBlank = 4, kBrace = 8, kPunct = 16 };

constexpr auto kClass = [] {
  std::array<uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; c++) table[c] = table[c - 'a' + 'A'] = kWord;
  for (int c = '0'; c <= '9'; c++) table[c] = kWord | kDigit;
  table['_'] = table['$'] = kWord;
  for (char c : {' ', '\t', '\r', '\n', '\v', '\f'}) table[uint8_t(c)] = kBlank;
  for (char c : std::string_view("{}[]()<>,;:=@!+-*/%&|^~?")) table[uint8_t(c)] = kPunct;
  for (char c : {'{', '}', '/', '"', '\0'})
    table[uint8_t(c)] |= kBrace;  // where skip_braces stops to look
  return table;
}();

bool is_word(char c) { return kClass[uint8_t(c)] & kWord; }
bool is_digit(char c) { return kClass[uint8_t(c)] & kDigit; }

std::string printable(char c) {
  if (c >= 32 && c < 127) return std::string("'") + c + "'";
  char hex[16];
  snprintf(hex, sizeof hex, "byte 0x%02X", unsigned(uint8_t(c)));
  return hex;
}

}  // namespace

Lexer::Lexer(const std::string& text, size_t begin, size_t end, uint32_t line)
    : text_(text.data()),
      p_(text_ + begin),
      end_(text_ + end),
      line_start_(p_),
      start_(p_),
      line_(line) {
  while (line_start_ > text_ && line_start_[-1] != '\n') line_start_--;
  next();
}

void Lexer::fail(const char* at, std::string message) const {
  throw SyntaxError{line_, uint32_t(at - line_start_) + 1, std::move(message)};
}

void Lexer::next() {
  skip_blank();
  start_ = p_;
  token_ = {};
  token_.line = line_;
  token_.column = uint32_t(p_ - line_start_) + 1;
  if (p_ == end_) return;
  const char c = *p_;
  if (is_digit(c) || (c == '.' && is_digit(p_[1]))) return number();
  if (is_word(c) || (c == '%' && is_word(p_[1]))) return word();
  if (c == '.' && is_word(p_[1])) {
    const char* begin = ++p_;
    while (is_word(*p_)) p_++;
    token_.kind = TokenKind::directive;
    token_.text = {begin, size_t(p_ - begin)};
    return;
  }
  if (c == '"') {
    const char* close = skip_string(p_);
    if (!close) fail(p_, "this string is not closed on its line");
    token_.kind = TokenKind::string;
    token_.text = {p_ + 1, size_t(close - p_ - 2)};
    p_ = close;
    return;
  }
  punct();
}

// blank = (space | "//" … newline | "/*" … "*/")*
void Lexer::skip_blank() {
  for (;;) {
    while (kClass[uint8_t(*p_)] & kBlank) {
      if (*p_++ != '\n') continue;
      line_++;
      line_start_ = p_;
    }
    if (*p_ != '/' || p_ == end_ || (p_[1] != '/' && p_[1] != '*')) return;
    const char* after = skip_comment(p_);
    if (!after) fail(p_, "this comment is never closed");
    for (const char* q = p_; (q = static_cast<const char*>(memchr(q, '\n', size_t(after - q))));
         line_start_ = ++q)
      line_++;
    p_ = after;
  }
}

// Past the comment at `p`, or null when "/*" has no "*/".
const char* Lexer::skip_comment(const char* p) {
  if (p[1] == '/') {
    const void* newline = memchr(p, '\n', size_t(end_ - p));
    return newline ? static_cast<const char*>(newline) : end_;
  }
  for (p += 2; p < end_; p++) {
    p = static_cast<const char*>(memchr(p, '*', size_t(end_ - p)));
    if (!p) return nullptr;
    if (p[1] == '/' && p + 1 < end_) return p + 2;
  }
  return nullptr;
}

// Past the closing quote of the string at `p`, or null.
const char* Lexer::skip_string(const char* p) const {
  for (p++; p < end_ && *p != '\n'; p++) {
    if (*p == '"') return p + 1;
    if (*p == '\\' && p + 1 < end_) p++;
  }
  return nullptr;
}

// word = '%'? name ('.' name ('::' name)*)*
void Lexer::word() {
  const char* begin = p_++;
  bool dotted = false;
  for (;;) {
    while (is_word(*p_)) p_++;
    if (*p_ == '.' && is_word(p_[1])) {
      dotted = true;
      p_++;
    } else if (dotted && *p_ == ':' && p_[1] == ':' && is_word(p_[2])) {
      p_ += 2;
    } else {
      break;
    }
  }
  token_.kind = TokenKind::word;
  token_.text = {begin, size_t(p_ - begin)};
}

// number = '0f' hex8 | '0d' hex16 | decimal with point or exponent | integer 'U'?
void Lexer::number() {
  if (*p_ == '0' && (p_[1] == 'f' || p_[1] == 'F')) {
    hex_real(8);
  } else if (*p_ == '0' && (p_[1] == 'd' || p_[1] == 'D')) {
    hex_real(16);
  } else {
    const char* q = p_;
    while (is_digit(*q)) q++;
    const bool hex = *p_ == '0' && (p_[1] == 'x' || p_[1] == 'X');
    if (!hex && (*q == '.' || *q == 'e' || *q == 'E')) decimal_real();
    else integer();
  }
  token_.text = {start_, size_t(p_ - start_)};
  if (is_word(*p_)) fail(p_, "unexpected " + printable(*p_) + " in a number");
}

void Lexer::hex_real(int digits) {
  const char* begin = p_ + 2;
  const auto [after, error] =
      std::from_chars(begin, std::min(begin + digits, end_), token_.bits, 16);
  if (error != std::errc() || after != begin + digits)
    fail(p_, "expected " + std::to_string(digits) + " hexadecimal digits after '" +
                 std::string(p_, 2) + "'");
  token_.kind = TokenKind::real;
  token_.is_f32 = digits == 8;
  p_ = after;
}

void Lexer::decimal_real() {
  double value = 0;
  const auto [after, error] = std::from_chars(p_, end_, value);
  if (error != std::errc()) fail(p_, "this floating-point number does not fit a .f64");
  token_.kind = TokenKind::real;
  token_.bits = std::bit_cast<uint64_t>(value);
  p_ = after;
}

void Lexer::integer() {
  int base = 10;
  const char* begin = p_;
  if (*p_ == '0' && (p_[1] == 'x' || p_[1] == 'X')) {
    base = 16, begin += 2;
  } else if (*p_ == '0' && (p_[1] == 'b' || p_[1] == 'B')) {
    base = 2, begin += 2;
  } else if (*p_ == '0') {
    base = 8;
  }
  const auto [after, error] = std::from_chars(begin, end_, token_.bits, base);
  if (error == std::errc::result_out_of_range) fail(p_, "this integer does not fit 64 bits");
  if (error != std::errc()) fail(begin, "expected digits after '" + std::string(p_, begin) + "'");
  token_.kind = TokenKind::integer;
  p_ = after;
  if (*p_ == 'U' || *p_ == 'u') {
    token_.is_unsigned = true;
    p_++;
  }
}

void Lexer::punct() {
  const char c = *p_, d = p_ + 1 < end_ ? p_[1] : '\0';
  if (!(kClass[uint8_t(c)] & kPunct)) fail(p_, "unexpected " + printable(c));
  const bool pair = (d == '=' && (c == '<' || c == '>' || c == '=' || c == '!')) ||
                    (d == c && (c == '<' || c == '>' || c == '&' || c == '|' || c == '@'));
  token_.kind = TokenKind::punct;
  token_.text = {p_, pair ? 2u : 1u};
  p_ += token_.text.size();
}

bool Lexer::skip_braces() {
  const char* p = p_;
  for (int depth = 1;; p++) {
    while (!(kClass[uint8_t(*p)] & kBrace)) p++;
    if (p >= end_) return false;
    if (*p == '{') depth++;
    if (*p == '}' && --depth == 0) break;
    if (*p == '/' && (p[1] == '/' || p[1] == '*')) {
      if (!(p = skip_comment(p))) return false;
      p--;
    } else if (*p == '"') {
      if (!(p = skip_string(p))) return false;
      p--;
    }
  }
  line_ += uint32_t(std::count(p_, p, '\n'));
  if (const void* newline = memrchr(p_, '\n', size_t(p - p_)))
    line_start_ = static_cast<const char*>(newline) + 1;
  p_ = p;
  next();
  return true;
}

void Lexer::skip_line() {
  const void* newline = memchr(p_, '\n', size_t(end_ - p_));
  p_ = newline ? static_cast<const char*>(newline) : end_;
  next();
}

}  // namespace ridge::vm::parse
