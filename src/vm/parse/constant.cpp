// Constant expressions (PTX ISA 4.6): C's operators and precedences over 64-bit integers and .f64.
#include <bit>

#include "vm/parse/parser.h"

namespace ridge::vm::parse {
namespace {

using Kind = Constant::Type;
constexpr int kMaxDepth = 100;

struct Binary {
  std::string_view spelling;
  int precedence;
};
constexpr Binary kBinary[] = {
    {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
    {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
    {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10},
};
constexpr int kEquality = 6, kRelational = 7, kMultiplicative = 10;

const Binary* binary_operator(const Token& token) {
  if (token.kind != TokenKind::punct) return nullptr;
  for (const Binary& op : kBinary)
    if (op.spelling == token.text) return &op;
  return nullptr;
}

Constant from_bool(bool value) { return {Kind::s64, value}; }
Constant from_double(double value) { return {Kind::f64, std::bit_cast<uint64_t>(value)}; }
bool truth(const Constant& c) { return c.is_float() ? c.as_double() != 0 : c.bits != 0; }

template <class T>
bool compare(std::string_view op, T a, T b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  if (op == "<=") return a <= b;
  return a >= b;
}

// Division with the one quotient that C leaves undefined wrapped around.
uint64_t divide(uint64_t a, uint64_t b, bool is_signed, bool remainder) {
  if (!is_signed) return remainder ? a % b : a / b;
  if (b == ~uint64_t(0)) return remainder ? 0 : uint64_t(0) - a;
  const auto x = int64_t(a), y = int64_t(b);
  return uint64_t(remainder ? x % y : x / y);
}

}  // namespace

double Constant::as_double() const {
  switch (type) {
    case Type::s64: return double(int64_t(bits));
    case Type::u64: return double(bits);
    case Type::f32: return std::bit_cast<float>(uint32_t(bits));
    case Type::f64: break;
  }
  return std::bit_cast<double>(bits);
}

// constant = conditional
Constant Parser::constant() { return conditional(); }

// conditional = binary ('?' conditional ':' conditional)?
Constant Parser::conditional() {
  const Constant condition = binary(1);
  if (!accept('?')) return condition;
  if (++depth_ > kMaxDepth) fail("this expression is nested too deeply");
  const Constant yes = conditional();
  expect(':', "between the values of '?'");
  const Constant no = conditional();
  depth_--;
  return truth(condition) ? yes : no;
}

// additive_term = unary (('*' | '/' | '%') unary)*
Constant Parser::additive_term() { return binary(kMultiplicative); }

// binary = unary (operator binary)*, by precedence climbing
Constant Parser::binary(int min_precedence) {
  Constant a = unary();
  while (const Binary* op = binary_operator(token())) {
    if (op->precedence < min_precedence) break;
    const Token at = token();
    next();
    const Constant b = binary(op->precedence + 1);
    const std::string_view s = op->spelling;
    const bool is_signed = a.type == Kind::s64 && b.type == Kind::s64;
    const bool is_comparison = op->precedence == kEquality || op->precedence == kRelational;
    const Kind type = is_signed ? Kind::s64 : Kind::u64;
    if (s == "&&" || s == "||") {
      a = from_bool(s == "&&" ? truth(a) && truth(b) : truth(a) || truth(b));
    } else if (a.is_float() || b.is_float()) {
      const double x = a.as_double(), y = b.as_double();
      if (is_comparison) a = from_bool(compare(s, x, y));
      else if (s == "+") a = from_double(x + y);
      else if (s == "-") a = from_double(x - y);
      else if (s == "*") a = from_double(x * y);
      else if (s == "/") a = from_double(x / y);
      else fail_at(at, "'" + std::string(s) + "' takes integers, not floating-point constants");
    } else if (is_comparison) {
      a = from_bool(is_signed ? compare(s, int64_t(a.bits), int64_t(b.bits))
                              : compare(s, a.bits, b.bits));
    } else if (s == "/" || s == "%") {
      if (b.bits == 0) fail_at(at, "division by zero in a constant expression");
      a = {type, divide(a.bits, b.bits, is_signed, s == "%")};
    } else if (s == "<<") {
      a.bits = b.bits < 64 ? a.bits << b.bits : 0;
    } else if (s == ">>") {
      const uint64_t by = b.bits < 64 ? b.bits : 63;
      a.bits = a.type == Kind::s64 ? uint64_t(int64_t(a.bits) >> by)
               : b.bits < 64       ? a.bits >> by
                                   : 0;
    } else {
      const uint64_t x = a.bits, y = b.bits;
      a = {type, s == "+"   ? x + y
                 : s == "-" ? x - y
                 : s == "*" ? x * y
                 : s == "&" ? x & y
                 : s == "|" ? x | y
                            : x ^ y};
    }
  }
  return a;
}

Constant Parser::apply_minus(Constant value) {
  if (value.type == Kind::f32) value.bits ^= uint64_t(1) << 31;
  else if (value.type == Kind::f64) value.bits ^= uint64_t(1) << 63;
  else value.bits = uint64_t(0) - value.bits;
  return value;
}

// unary = ('-' | '+' | '!' | '~') unary | primary
Constant Parser::unary() {
  if (token().kind != TokenKind::punct) return primary();
  if (++depth_ > kMaxDepth) fail("this expression is nested too deeply");
  Constant value;
  const Token op = token();
  if (accept('-')) {
    value = apply_minus(unary());
  } else if (accept('+')) {
    value = unary();
  } else if (accept('!')) {
    value = from_bool(!truth(unary()));
  } else if (accept('~')) {
    value = unary();
    if (value.is_float()) fail_at(op, "'~' takes an integer, not a floating-point constant");
    value.bits = ~value.bits;
  } else {
    value = primary();
  }
  depth_--;
  return value;
}

// primary = integer | real | 'WARP_SZ' | '(' cast | '(' conditional ')'
Constant Parser::primary() {
  const Token t = token();
  if (t.kind == TokenKind::integer) {
    next();
    return {t.is_unsigned || int64_t(t.bits) < 0 ? Kind::u64 : Kind::s64, t.bits};
  }
  if (t.kind == TokenKind::real) {
    next();
    return {t.is_f32 ? Kind::f32 : Kind::f64, t.bits};
  }
  if (t.kind == TokenKind::word && t.text == "WARP_SZ") {
    next();
    return {Kind::s64, 32};
  }
  if (!accept('(')) fail_expected("a constant");
  if (token().kind == TokenKind::directive) return cast();
  const Constant value = conditional();
  expect(')', "after a constant expression");
  return value;
}

// cast = ('.s64' | '.u64') ')' unary
Constant Parser::cast() {
  const bool is_signed = token().text == "s64";
  if (!is_signed && token().text != "u64") fail("a constant can be cast to .s64 or .u64 only");
  next();
  expect(')', "after the type of a cast");
  Constant value = unary();
  if (value.is_float()) fail("a floating-point constant cannot be cast");
  value.type = is_signed ? Kind::s64 : Kind::u64;
  return value;
}

}  // namespace ridge::vm::parse
