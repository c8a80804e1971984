// Declarations of variables and parameters, and their initialisers; the same at module level and
// inside bodies.
#include <bit>
#include <utility>

#include "vm/parse/parser.h"

namespace ridge::vm::parse {
namespace {

constexpr uint64_t kMaxInitialized = 1u << 30;        // bytes we hold for one initialiser
constexpr uint64_t kMaxVariable = uint64_t(1) << 46;  // more than any address space
constexpr int kMaxDepth = 100;

constexpr std::pair<std::string_view, Space> kSpaces[] = {
    {"reg", Space::reg},       {"global", Space::global}, {"const", Space::constant},
    {"shared", Space::shared}, {"local", Space::local},   {"param", Space::param},
    {"tex", Space::global},
};

const std::pair<std::string_view, Space>* find_space(const Token& token) {
  if (token.kind != TokenKind::directive) return nullptr;
  for (const auto& row : kSpaces)
    if (row.first == token.text) return &row;
  return nullptr;
}

bool is_opaque(Type type) {
  return type == Type::texref || type == Type::samplerref || type == Type::surfref;
}

}  // namespace

bool Parser::at_space() const { return find_space(token()) != nullptr; }

uint32_t Parser::vector_width(std::string_view directive) const {
  return directive == "v2" ? 2 : directive == "v4" ? 4 : directive == "v8" ? 8 : 0;
}

// attribute = '(' anything, nested ')'
void Parser::skip_parentheses() {
  expect('(', "after an attribute");
  for (int depth = 1; depth > 0; next()) {
    if (token().kind == TokenKind::end) fail_expected("')'");
    depth += token().is('(') - token().is(')');
  }
}

// declaration = space bank? (align | '.v2' | '.v4' | type | '.attribute' attribute | ptr)*
// align = '.align' integer
// bank = '[' integer ']', from before PTX 2.2: .const[3]
// ptr = '.ptr' space? align?, what a parameter points at, which nothing here needs
Parser::Declaration Parser::declaration() {
  Declaration d;
  d.space = find_space(token())->second;
  next();
  if (d.space == Space::constant && accept('[')) {
    integer("a constant bank");
    expect(']', "after a constant bank");
  }
  bool pointee = false;
  while (token().kind == TokenKind::directive) {
    const Token t = token();
    next();
    if (t.text == "align") {
      const uint64_t align = integer_up_to(uint64_t(1) << 31, "an alignment");
      if (!std::has_single_bit(align)) fail_at(t, "an alignment must be a power of two");
      if (!pointee) d.align = uint32_t(align);
    } else if (t.text == "ptr") {
      pointee = true;
    } else if (pointee && find_space(t)) {
      continue;
    } else if (t.text == "attribute") {
      Lexer saved = lexer_;
      next();
      d.managed |= token().is_directive("managed");
      lexer_ = saved;
      skip_parentheses();
    } else if (const uint32_t width = vector_width(t.text)) {
      d.vector = width;
    } else if (const auto type = type_from_name(t.text)) {
      d.type = *type;
    } else {
      fail_at(t, "unknown type or attribute '." + std::string(t.text) + "' in a declaration");
    }
  }
  if (d.type == Type::none) fail_expected("a type such as .u32");
  if (d.type == Type::pred && d.space != Space::reg)
    fail("a .pred variable can only live in registers");
  return d;
}

// declarator = name ('[' integer? ']')*
Variable Parser::declarator(const Declaration& d, std::vector<uint64_t>& dims) {
  Variable v;
  v.line = token().line;
  v.name = name("a variable's name");
  v.space = d.space;
  v.type = d.type;
  v.managed = d.managed;
  dims.clear();
  while (accept('[')) {
    if (token().is(']')) {
      if (!dims.empty()) fail("only an array's first dimension may be left open");
      v.unsized = true;
      dims.push_back(0);
    } else {
      dims.push_back(integer_up_to(kMaxVariable, "an array's size"));
    }
    expect(']', "after an array's size");
  }
  if (d.vector > 1) dims.push_back(d.vector);
  const uint32_t natural = uint32_t(std::max(1, size_of(d.type))) * d.vector;
  v.align = d.align ? d.align : natural;
  set_natural_size(v, dims);
  return v;
}

void Parser::set_natural_size(Variable& v, const std::vector<uint64_t>& dims) const {
  v.size = uint64_t(size_of(v.type));
  for (const uint64_t dim : dims)
    if (__builtin_mul_overflow(v.size, dim, &v.size) || v.size > kMaxVariable)
      fail("this variable is too large");
}

// initializer = initializer_list | '{' … '}' of a texture or sampler, which nothing here reads
void Parser::initializer(Variable& v, const std::vector<uint64_t>& dims) {
  if (is_opaque(v.type)) {
    if (!token().is('{') || !lexer_.skip_braces()) fail_expected("'{' … '}'");
    return next();
  }
  initializer_list(v, dims, 0, 0);
  if (v.init.empty()) return;
  if (v.size > kMaxInitialized) fail("this initialised variable is too large");
  v.init.resize(v.size);
}

// initializer_list = value | '{' initializer_list (',' initializer_list)* '}'
void Parser::initializer_list(Variable& v, const std::vector<uint64_t>& dims, size_t level,
                              uint64_t offset) {
  if (level == dims.size()) return initializer_value(v, offset);
  expect('{', "before an array's initialisers");
  uint64_t stride = uint64_t(size_of(v.type));
  for (size_t i = level + 1; i < dims.size(); i++) stride *= dims[i];
  const bool open = level == 0 && v.unsized;
  uint64_t count = 0;
  while (!token().is('}')) {
    if (!open && count == dims[level])
      fail("too many initialisers: this array of '" + v.name + "' has " + std::to_string(count) +
           " elements");
    initializer_list(v, dims, level + 1, offset + count * stride);
    count++;
    if (!accept(',')) break;
  }
  expect('}', "after an array's initialisers");
  if (!open) return;
  v.unsized = false;
  v.size = count * stride;
}

// initializer_value = constant | symbol_address | mask '(' symbol_address ')'
void Parser::initializer_value(Variable& v, uint64_t offset) {
  const Token at = token();
  const int size = size_of(v.type);
  if (offset + uint64_t(size) > kMaxInitialized) fail("this initialised variable is too large");
  if (v.init.size() < offset + uint64_t(size)) v.init.resize(offset + uint64_t(size));

  Lexer saved = lexer_;
  while (token().is('(')) next();
  const bool symbol = token().kind == TokenKind::word && token().text != "WARP_SZ";
  lexer_ = saved;
  if (symbol) {
    Relocation relocation = symbol_address();
    if (size != 4 && size != 8)
      fail_at(at, "an address does not fit a ." + std::string(name_of(v.type)));
    relocation.offset = offset;
    relocation.size = uint8_t(size);
    v.relocations.push_back(relocation);
    return;
  }

  const Constant value = constant();
  if (accept('(')) {
    Relocation relocation = symbol_address();
    expect(')', "after a masked address");
    const int byte = std::countr_zero(value.bits) / 8;
    if (value.is_float() || value.bits == 0 || value.bits != uint64_t(0xFF) << (8 * byte))
      fail_at(at, "a mask must select one byte of the address: 0xFF, 0xFF00, …");
    relocation.offset = offset;
    relocation.size = 1;
    relocation.byte = uint8_t(byte);
    v.relocations.push_back(relocation);
    return;
  }

  uint64_t bits = value.bits;
  const bool real = v.type == Type::f32 || v.type == Type::f64;
  if (real != value.is_float() && (real || size != (value.type == Constant::Type::f32 ? 4 : 8)))
    fail_at(at, "this constant does not initialise a ." + std::string(name_of(v.type)));
  if (v.type == Type::f32 && value.type == Constant::Type::f64)
    bits = std::bit_cast<uint32_t>(float(value.as_double()));
  if (v.type == Type::f64) bits = std::bit_cast<uint64_t>(value.as_double());
  for (int i = 0; i < size; i++)
    v.init[offset + uint64_t(i)] = i < 8 ? uint8_t(bits >> (8 * i)) : 0;
}

// symbol_address = symbol (('+' | '-') additive_term)*
// symbol = 'generic'? '(' symbol_address ')' | name
Relocation Parser::symbol_address() {
  if (++depth_ > kMaxDepth) fail("this expression is nested too deeply");
  Relocation r;
  const Token at = token();
  if (accept('(')) {
    r = symbol_address();
    expect(')', "after an address");
  } else {
    const std::string_view symbol = name("a variable or function");
    if (symbol == "generic" && accept('(')) {
      r = symbol_address();
      r.generic = true;
      expect(')', "after generic(…");
    } else if (!(r.variable = find_variable(symbol)) && !(r.function = find_function(symbol))) {
      fail_at(at, "unknown name '" + std::string(symbol) +
                      "': no variable or function declared above is called so");
    }
  }
  while (token().is('+') || token().is('-')) {
    const bool minus = token().is('-');
    next();
    Constant term = additive_term();
    if (term.is_float()) fail("an offset must be an integer");
    if (minus) term = apply_minus(term);
    r.addend = int64_t(uint64_t(r.addend) + term.bits);
  }
  depth_--;
  return r;
}

// parameter = declaration declarator
Variable Parser::parameter() {
  if (!token().is_directive("param") && !token().is_directive("reg"))
    fail_expected("a parameter (.param or .reg)");
  const Declaration d = declaration();
  std::vector<uint64_t> dims;
  return declarator(d, dims);
}

// parameters = '(' (parameter (',' parameter)*)? ')'
template <class List>
void Parser::parameters(List& list) {
  expect('(', "before parameters");
  while (!token().is(')')) {
    list.push_back(parameter());
    if (!accept(',')) break;
  }
  expect(')', "after parameters");
}
template void Parser::parameters(std::deque<Variable>&);
template void Parser::parameters(std::vector<Variable>&);

}  // namespace ridge::vm::parse
