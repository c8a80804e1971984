// Operands, in all the forms the comment of Operand lists.
#include "vm/parse/body.h"

namespace ridge::vm::parse {
namespace {

using Kind = Operand::Kind;

bool is_name(const Token& token) {
  return token.kind == TokenKind::word && token.text != "WARP_SZ";
}

// Which component of a vector ".x" or ".r" is, -1 for none.
int component_index(std::string_view component) {
  if (component.size() != 1) return -1;
  const size_t xyzw = std::string_view("xyzw").find(component[0]);
  if (xyzw != std::string_view::npos) return int(xyzw);
  const size_t rgba = std::string_view("rgba").find(component[0]);
  return rgba != std::string_view::npos ? int(rgba) : -1;
}

// Bytes or halves of a register, which the decoder reads: vadd.s32 %r1, %r2.b0, vadd4 … %r1.b310
bool is_video_selector(std::string_view component) {
  return component.size() >= 2 && component.size() <= 5 &&
         (component[0] == 'b' || component[0] == 'h') &&
         component.find_first_not_of("01234567", 1) == std::string_view::npos;
}

[[noreturn]] void fail_unknown(const Token& at) {
  throw SyntaxError{at.line, at.column,
                    "unknown name '" + std::string(at.text) +
                        "': no register, variable or function in reach is called so"};
}

}  // namespace

// operands = (operand (',' operand)*)? ';'
void BodyParser::operands(Instruction& i) {
  operands_.clear();
  const bool is_call = i.mnemonic == "call" || i.mnemonic.starts_with("call.");
  if (!token().is(';')) {
    do operands_.push_back(operand(is_call));
    while (accept(','));
  }
  if (!accept(';')) fail_expected("',' or ';' after an operand");
  if (!i.mnemonic.starts_with("vmad."))
    for (const Operand& o : operands_)
      if (o.kind == Kind::reg && o.negated && function_.registers[size_t(o.reg)].type != Type::pred)
        throw SyntaxError{i.line, o.column,
                          "no instruction but vmad negates a register on the way"};
  i.operands.assign(std::make_move_iterator(operands_.begin()),
                    std::make_move_iterator(operands_.end()));
}

// operand = minus | element | vector | address | list | label
Operand BodyParser::operand(bool is_call) {
  if (token().is('[')) return address();
  if (token().is('{')) return vector();
  if (is_call && token().is('(')) return list();
  if (token().is('-')) return minus();
  if (!is_name(token())) return element();

  const Token at = token();
  Operand o = named();
  if (o.kind == Kind::label)  // not known yet: a label, which may stand further down
    scopes_.use_label({at.text, at.line, at.column, false, uint32_t(function_.instructions.size()),
                       uint32_t(operands_.size())});
  return o;
}

// element = negated | named | immediate
Operand BodyParser::element() {
  const Token at = token();
  if (is_name(at)) {
    Operand o = named();
    if (o.kind == Kind::label) fail_unknown(at);
    return o;
  }
  return at.is('!') ? negated() : immediate();
}

// negated = '!' register | immediate
Operand BodyParser::negated() {
  const Lexer saved = lexer_;
  Operand o;
  o.column = token().column;
  next();
  if (!is_name(token())) {
    lexer_ = saved;
    return immediate();
  }
  o.kind = Kind::reg;
  o.negated = true;
  const Token at = token();
  o.reg = register_index("a predicate register");
  if (function_.registers[size_t(o.reg)].type != Type::pred)
    fail_at(at, "'!' is for predicates; '" + std::string(at.text) + "' is not one");
  return o;
}

// minus = '-' register | immediate
Operand BodyParser::minus() {
  const Lexer saved = lexer_;
  const uint32_t column = token().column;
  next();
  if (is_name(token())) {
    Operand o = named();
    if (o.kind == Kind::reg && function_.registers[size_t(o.reg)].type != Type::pred) {
      o.negated = true;
      o.column = column;
      return o;
    }
  }
  lexer_ = saved;
  return immediate();
}

// vector = '{' element (',' element)* '}' ('|' ('_' | register))?
Operand BodyParser::vector() {
  Operand o;
  o.kind = Kind::vec;
  o.column = token().column;
  next();
  o.elems.reserve(4);
  do o.elems.push_back(element());
  while (accept(','));
  expect('}', "after a vector's elements");
  second_register(o);
  return o;
}

// list = '(' (element (',' element)*)? ')'
Operand BodyParser::list() {
  Operand o;
  o.kind = Kind::list;
  o.column = token().column;
  next();
  while (!token().is(')')) {
    o.elems.push_back(element());
    if (!accept(',')) break;
  }
  expect(')', "after a call's arguments");
  return o;
}

// address = '[' (register | symbol | constant) offset (',' (element | vector))* ']'
Operand BodyParser::address() {
  Operand o;
  o.column = token().column;
  next();
  const Token at = token();
  if (is_name(at)) {
    next();
    if (!bind(o, at)) fail_unknown(at);
    if (o.kind != Kind::reg && o.kind != Kind::symbol)
      fail_at(at, "'" + std::string(at.text) +
                      "' is not a register or variable, and cannot start an address");
    o.offset = offset();
  } else {
    const Constant base = constant();
    if (base.is_float()) fail_at(at, "an address cannot be a floating-point constant");
    o.offset = int64_t(base.bits);
  }
  o.kind = Kind::address;
  while (accept(',')) o.elems.push_back(token().is('{') ? vector() : element());
  // [tex, {x, y}]: the coordinates themselves.
  if (o.elems.size() == 1 && o.elems[0].kind == Kind::vec) {
    std::vector<Operand> coordinates = std::move(o.elems[0].elems);
    o.elems = std::move(coordinates);
  }
  expect(']', "after an address");
  return o;
}

// offset = (('+' | '-') additive_term)*
int64_t BodyParser::offset() {
  uint64_t sum = 0;
  while (token().is('+') || token().is('-')) {
    const Token sign = token();
    next();
    Constant term = additive_term();
    if (term.is_float()) fail_at(sign, "an offset must be an integer");
    sum += sign.is('-') ? apply_minus(term).bits : term.bits;
  }
  return int64_t(sum);
}

// immediate = constant
Operand BodyParser::immediate() {
  Operand o;
  o.kind = Kind::imm;
  o.column = token().column;
  const TokenKind kind = token().kind;
  if (kind == TokenKind::directive || kind == TokenKind::string || kind == TokenKind::end ||
      token().is(';'))
    fail_expected("an operand");
  const Constant value = constant();
  o.is_float = value.is_float();
  o.is_f64 = value.type == Constant::Type::f64;
  o.bits = value.bits;
  return o;
}

// named = ('_' | register) ('|' ('_' | register))? | special | symbol | label
// A name that nothing has yet comes back as a label.
Operand BodyParser::named() {
  const Token at = token();
  Operand o;
  o.column = at.column;
  next();
  if (at.text == "_") {
    second_register(o);
  } else if (!bind(o, at)) {
    o.kind = Kind::label;
  } else if (o.kind == Kind::reg) {
    second_register(o);
  } else if (o.kind == Kind::symbol && o.variable) {
    return symbol(std::move(o));
  }
  return o;
}

// symbol = name ('[' integer ']' | offset)
Operand BodyParser::symbol(Operand o) {
  if (accept('[')) {
    o.offset = int64_t(integer("an index") * uint64_t(size_of(o.variable->type)));
    expect(']', "after an index");
  } else {
    o.offset = offset();
  }
  return o;
}

void BodyParser::second_register(Operand& o) {
  if (!accept('|')) return;
  if (token().kind == TokenKind::word && token().text == "_") return next();
  o.second = register_index("a register or '_' after '|'");
}

// Makes `o` what the word `at` names. False when it names nothing that is known by now.
bool BodyParser::bind(Operand& o, const Token& at) {
  const size_t dot = at.text.find('.');
  const std::string_view base = at.text.substr(0, dot);
  const std::string_view component = dot == base.npos ? "" : at.text.substr(dot + 1);
  const Scopes::Found found = scopes_.find(base);
  if (found.kind == Scopes::Found::Kind::beyond_range)
    fail_at(at, "unknown register '" + std::string(base) + "': its declaration stops at " +
                    std::to_string(found.count) + " registers");
  if (found.kind == Scopes::Found::Kind::something && !found.binding.variable) {
    select_component(o, found.binding, component, at);
    return true;
  }
  if (found.kind == Scopes::Found::Kind::nothing && base[0] == '%') {
    o.kind = Kind::special;
    o.text = at.text;
    return true;
  }
  o.kind = Kind::symbol;
  o.variable = found.binding.variable ? found.binding.variable : Parser::find_variable(base);
  if (!o.variable) o.function = find_function(base);
  const bool known = o.variable || o.function;
  if (known && !component.empty())
    fail_at(at, "'" + std::string(base) + "' is not a register and has no component");
  if (!component.empty()) fail_unknown(at);
  return known;
}

void BodyParser::select_component(Operand& o, const Binding& binding, std::string_view component,
                                  const Token& at) {
  o.kind = Kind::reg;
  o.reg = binding.first;
  if (component.empty() && binding.width == 1) return;
  const int index = component_index(component);
  if (component.empty()) {  // all of a vector
    o.kind = Kind::vec;
    o.reg = -1;
    for (uint32_t c = 0; c < binding.width; c++) {
      Operand& elem = o.elems.emplace_back();
      elem.kind = Kind::reg;
      elem.reg = binding.first + int32_t(c);
      elem.column = at.column;
    }
  } else if (binding.width > 1 && index >= 0 && uint32_t(index) < binding.width) {
    o.reg += index;
  } else if (binding.width == 1 && is_video_selector(component)) {
    o.text = component;
  } else {
    fail_at(at, "this register has no component '." + std::string(component) + "'");
  }
}

int32_t BodyParser::register_index(std::string_view what) {
  const Token at = token();
  if (at.kind != TokenKind::word) fail_expected(what);
  next();
  Operand o;
  if (!bind(o, at) || o.kind != Kind::reg)
    fail_at(at, "expected " + std::string(what) + ", and '" + std::string(at.text) +
                    "' is not a register in reach");
  return o.reg;
}

}  // namespace ridge::vm::parse
