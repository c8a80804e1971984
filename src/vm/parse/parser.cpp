#include "vm/parse/parser.h"

namespace ridge::vm::parse {

std::string describe(const Token& token) {
  if (token.kind == TokenKind::end) return "the end";
  const std::string dot = token.kind == TokenKind::directive ? "." : "";
  const std::string_view quote = token.kind == TokenKind::string ? "\"" : "'";
  return std::string(quote) + dot + std::string(token.text.substr(0, 80)) + std::string(quote);
}

void Parser::fail_at(const Token& at, std::string message) {
  throw SyntaxError{at.line, at.column, std::move(message)};
}

void Parser::fail_expected(std::string_view expected) const {
  fail("expected " + std::string(expected) + ", found " + describe(token()));
}

bool Parser::accept(char c) {
  if (!token().is(c)) return false;
  next();
  return true;
}

void Parser::expect(char c, std::string_view where) {
  if (accept(c)) return;
  const char quoted[] = {'\'', c, '\'', ' ', '\0'};
  fail_expected(std::string(quoted).append(where));
}

bool Parser::accept_directive(std::string_view name) {
  if (!token().is_directive(name)) return false;
  next();
  return true;
}

std::string_view Parser::name(std::string_view what) {
  const std::string_view text = token().text;
  if (token().kind != TokenKind::word || text.find('.') != text.npos) fail_expected(what);
  next();
  return text;
}

uint64_t Parser::integer(std::string_view what) {
  const Token at = token();
  const Constant value = constant();
  if (value.is_float())
    fail_at(at, "expected " + std::string(what) + ", found a floating-point constant");
  return value.bits;
}

uint64_t Parser::integer_up_to(uint64_t limit, std::string_view what) {
  const Token at = token();
  const uint64_t value = integer(what);
  if (value > limit)
    fail_at(at, std::string(what) + " must be between 0 and " + std::to_string(limit));
  return value;
}

// section = '.section' name '{' debug data '}'
void Parser::section() {
  if (token().kind != TokenKind::directive && token().kind != TokenKind::word)
    fail_expected("a section's name");
  next();
  if (!token().is('{')) fail_expected("'{' before a section's data");
  if (!lexer_.skip_braces()) fail("no '}' closes this section");
  next();
}

// pragma = '.pragma' string (',' string)* ';'
bool Parser::pragma(std::string_view wanted) {
  bool found = false;
  do {
    if (token().kind != TokenKind::string) fail_expected("a pragma in quotes");
    found |= token().text.find(wanted) != std::string_view::npos;
    next();
  } while (accept(','));
  expect(';', "after .pragma");
  return found;
}

// linkage = ('.visible' | '.extern' | '.weak' | '.common')*
Linkage Parser::linkage() {
  Linkage linkage = Linkage::internal;
  for (;;) {
    if (accept_directive("visible")) linkage = Linkage::visible;
    else if (accept_directive("extern")) linkage = Linkage::external;
    else if (accept_directive("weak")) linkage = Linkage::weak;
    else if (accept_directive("common")) linkage = Linkage::common;
    else return linkage;
  }
}

const Variable* Parser::find_variable(std::string_view name) const {
  const auto it = module_.variable_by_name.find(name);
  return it == module_.variable_by_name.end() ? nullptr : it->second;
}

const Function* Parser::find_function(std::string_view name) const {
  const auto it = module_.function_by_name.find(name);
  return it == module_.function_by_name.end() ? nullptr : it->second;
}

}  // namespace ridge::vm::parse
