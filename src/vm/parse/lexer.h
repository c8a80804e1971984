// PTX text to tokens, one ahead, without allocating: a token is a view into the module's text.
//
// Two choices keep the parser simple. A word takes its dotted suffixes with it ("mad.lo.s32",
// "%tid.x", "ld.shared::cta.u32" are one token each), while a directive does not (".reg.pred" is
// ".reg" and ".pred"). And the text always ends in a character no token contains, '\0' after a
// module and '}' after a body, so that the scanning loops need no bounds check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridge::vm::parse {

// Thrown inside the parser only; parse_module and parse_body turn it into an Error with
// diagnostic().
struct SyntaxError {
  uint32_t line, column;
  std::string message;
};

enum class TokenKind : uint8_t {
  end,
  word,       // an identifier or a mnemonic
  directive,  // ".reg": text is "reg"
  integer,    // bits
  real,       // bits: f32 bits when is_f32 (0f…), else f64 bits (0d…, 1.5)
  string,     // text without the quotes
  punct,      // one or two characters
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool is_f32 = false;
  bool is_unsigned = false;  // 5U
  uint32_t line = 1, column = 1;
  uint64_t bits = 0;
  std::string_view text;

  bool is(char c) const { return kind == TokenKind::punct && text.size() == 1 && text[0] == c; }
  bool is(std::string_view s) const { return kind == TokenKind::punct && text == s; }
  bool is_directive(std::string_view s) const { return kind == TokenKind::directive && text == s; }
};

class Lexer {
 public:
  // Reads text[begin, end), where text[end] is '\0' or '}'. `line` is the line `begin` stands on.
  Lexer(const std::string& text, size_t begin, size_t end, uint32_t line);

  const Token& token() const { return token_; }
  void next();

  // The current token is '{': skips to the '}' that closes it and makes that the current token.
  // Returns false, and stays, when nothing closes it. Strings and comments may hold braces.
  bool skip_braces();
  void skip_line();
  // Where the current token starts, as an offset into the text.
  size_t offset() const { return size_t(start_ - text_); }

 private:
  void skip_blank();
  const char* skip_comment(const char* p);
  const char* skip_string(const char* p) const;
  void word();
  void number();
  void hex_real(int digits);
  void decimal_real();
  void integer();
  void punct();
  [[noreturn]] void fail(const char* at, std::string message) const;

  const char* text_;
  const char* p_;  // after the current token
  const char* end_;
  const char* line_start_;
  const char* start_;  // of the current token
  uint32_t line_;
  Token token_;
};

}  // namespace ridge::vm::parse
