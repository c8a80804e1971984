// Function bodies: blocks, declarations, labels, source locations and instructions.
#include "vm/parse/body.h"

#include <stdexcept>

namespace ridge::vm {
namespace parse {
namespace {

constexpr size_t kMaxRegisters = size_t(1) << 20;  // per function; ptxas gives up long before
constexpr std::string_view kComponents[] = {".x", ".y", ".z", ".w"};

}  // namespace

// body = statement*
void BodyParser::body() {
  declare_parameters(function_.results);
  declare_parameters(function_.params);
  while (token().kind != TokenKind::end) statement();
  if (scopes_.depth() != 1) fail_expected("'}'");
  scopes_.close();
}

void BodyParser::declare_parameters(std::deque<Variable>& parameters) {
  for (const Variable& v : parameters) {
    if (v.name == "_") continue;
    Binding binding{.variable = &v};
    if (v.space == Space::reg) {
      binding = {.first = int32_t(function_.registers.size())};
      function_.registers.push_back({v.name, v.type});
    }
    if (!scopes_.declare(v.name, binding))
      fail("two parameters of '" + function_.name + "' are called '" + v.name + "'");
  }
}

const Variable* BodyParser::find_variable(std::string_view name) const {
  const auto found = scopes_.find(name);
  return found.kind == Scopes::Found::Kind::something ? found.binding.variable
                                                      : Parser::find_variable(name);
}

// statement = '{' statement* '}' | directive | label | guard? instruction
void BodyParser::statement() {
  const Token t = token();
  if (t.kind == TokenKind::directive) return directive();
  if (t.is('@')) return instruction(t);
  if (t.kind == TokenKind::word) {
    next();
    return token().is(':') ? label(t) : instruction(t);
  }
  if (accept('{')) return scopes_.open();
  if (!t.is('}') || scopes_.depth() == 1) fail_expected("an instruction, a label or a declaration");
  next();
  scopes_.close();
}

// directive = registers | variables | loc | pragma | section
void BodyParser::directive() {
  if (accept_directive("loc")) return loc();
  if (accept_directive("reg")) return registers();
  if (accept_directive("pragma")) {
    if (pragma("nounroll")) function_.nounroll.push_back(uint32_t(function_.instructions.size()));
    return;
  }
  if (accept_directive("section")) return section();
  const Linkage l = linkage();
  if (!at_space()) fail("unknown directive '." + std::string(token().text) + "' in a function");
  variables(l);
}

// registers = '.reg' ('.v2' | '.v4')? type range (',' range)* ';'
// range = name ('<' integer '>')?
void BodyParser::registers() {
  uint32_t width = 1;
  Type type = Type::none;
  for (; token().kind == TokenKind::directive; next()) {
    const auto found = type_from_name(token().text);
    if (found) type = *found;
    else if (const uint32_t vector = vector_width(token().text); vector == 2 || vector == 4)
      width = vector;
    else fail("unknown register type '." + std::string(token().text) + "'");
  }
  if (type == Type::none) fail_expected("a type such as .b32");
  if (type == Type::b128) {  // two halves
    if (width > 1) fail("there are no vectors of .b128 registers");
    type = Type::b64;
    width = 2;
  }
  do {
    const Token at = token();
    name("a register's name");
    uint32_t count = 1;
    const bool is_range = accept('<');
    if (is_range) {
      if (token().kind != TokenKind::integer || token().bits > kMaxRegisters)
        fail("the number of registers must be an integer up to " + std::to_string(kMaxRegisters));
      count = uint32_t(token().bits);
      next();
      expect('>', "after the number of registers");
    }
    declare_registers(at, type, width, is_range, count);
  } while (accept(','));
  expect(';', "after a register declaration");
}

// A vector register is `width` registers in a row: v.x, v.y, …
void BodyParser::declare_registers(const Token& at, Type type, uint32_t width, bool is_range,
                                   uint32_t count) {
  std::vector<Register>& registers = function_.registers;
  const Binding first{.first = int32_t(registers.size()), .width = width};
  if (registers.size() + size_t(count) * width > kMaxRegisters)
    fail_at(at, "this function has too many registers");
  if (is_range ? !scopes_.declare_range(at.text, first, count) : !scopes_.declare(at.text, first))
    fail_at(at, "'" + std::string(at.text) + "' is already declared in this block");
  for (uint32_t i = 0; i < count; i++) {
    const std::string name =
        is_range ? std::string(at.text) + std::to_string(i) : std::string(at.text);
    if (width == 1) registers.push_back({name, type});
    else
      for (uint32_t c = 0; c < width; c++)
        registers.push_back({name + std::string(kComponents[c]), type});
  }
}

// variables = declaration declarator ('=' initializer)? (',' declarator ('=' initializer)?)* ';'
void BodyParser::variables(Linkage linkage) {
  const Declaration d = declaration();
  std::vector<uint64_t> dims;
  do {
    const Token at = token();
    Variable& v = function_.variables.emplace_back(declarator(d, dims));
    v.linkage = linkage;
    if (!scopes_.declare(v.name, {.variable = &v}))
      fail_at(at, "'" + v.name + "' is already declared in this block");
    if (accept('=')) initializer(v, dims);
  } while (accept(','));
  expect(';', "after a variable");
}

// loc = '.loc' place (',' 'function_name' name ('+' integer)?)? (',' 'inlined_at' place)?
void BodyParser::loc() {
  SourceLoc here = source_place();
  while (accept(',')) {
    const Token at = token();
    const std::string_view what = name("function_name or inlined_at");
    if (what == "function_name") {
      name("a label of .debug_str");
      if (accept('+')) integer("an offset");
    } else if (what == "inlined_at") {
      const SourceLoc place = source_place();
      // The place may be inlined code itself, whose own .loc has said where it was inlined.
      const auto known = newest_loc_.find({place.file, place.line, place.column});
      here.inlined_at = known == newest_loc_.end() ? add_loc(place) : known->second;
    } else {
      fail_at(at, "expected function_name or inlined_at, found " + describe(at));
    }
  }
  loc_ = add_loc(here);
}

// place = file line column
SourceLoc BodyParser::source_place() {
  SourceLoc place;
  place.file = uint32_t(integer_up_to(UINT32_MAX, "a file's index"));
  place.line = uint32_t(integer_up_to(UINT32_MAX, "a line"));
  if (token().kind == TokenKind::integer)
    place.column = uint32_t(integer_up_to(UINT32_MAX, "a column"));
  return place;
}

// Equal locations share an index; the newest of a place is what a later inlined_at means.
int32_t BodyParser::add_loc(const SourceLoc& loc) {
  const auto next_index = int32_t(function_.locs.size());
  int32_t& newest =
      newest_loc_.try_emplace({loc.file, loc.line, loc.column}, next_index).first->second;
  if (newest != next_index && function_.locs[size_t(newest)].inlined_at == loc.inlined_at)
    return newest;
  const auto [it, is_new] =
      locs_.try_emplace({loc.file, loc.line, loc.column, loc.inlined_at}, next_index);
  if (is_new) function_.locs.push_back(loc);
  return newest = it->second;
}

// label = name ':' (branch_targets | call_targets | call_prototype)?
void BodyParser::label(const Token& at) {
  next();
  BranchTable table;
  bool is_table = true;
  table.name = at.text;
  if (accept_directive("branchtargets")) branch_targets(table);
  else if (accept_directive("calltargets")) call_targets(table);
  else if (accept_directive("callprototype")) call_prototype(table);
  else is_table = false;
  const size_t target = is_table ? function_.tables.size() : function_.instructions.size();
  if (at.text.find('.') != at.text.npos) fail_at(at, "a label's name cannot contain '.'");
  if (!scopes_.declare_label(at.text, is_table, uint32_t(target)))
    fail_at(at, "the label '" + std::string(at.text) + "' is already declared in this block");
  if (is_table) function_.tables.push_back(std::move(table));
}

// branch_targets = '.branchtargets' name (',' name)* ';'
void BodyParser::branch_targets(BranchTable& table) {
  do {
    const Token at = token();
    scopes_.use_label({name("a label"), at.line, at.column, true, uint32_t(function_.tables.size()),
                       uint32_t(table.targets.size())});
    table.targets.push_back(0);
  } while (accept(','));
  expect(';', "after .branchtargets");
}

// call_targets = '.calltargets' name (',' name)* ';'
void BodyParser::call_targets(BranchTable& table) {
  do {
    const Token at = token();
    const Function* f = find_function(name("a function"));
    if (!f) fail_at(at, "unknown function '" + std::string(at.text) + "'");
    table.functions.push_back(f);
  } while (accept(','));
  expect(';', "after .calltargets");
}

// call_prototype = '.callprototype' parameters? '_' parameters? attribute* ';'
// attribute = '.noreturn' | '.abi_preserve' integer | '.abi_preserve_control' integer
void BodyParser::call_prototype(BranchTable& table) {
  if (token().is('(')) parameters(table.results);
  name("'_'");
  if (token().is('(')) parameters(table.params);
  while (token().kind == TokenKind::directive) {
    const bool counted = token().text.starts_with("abi_preserve");
    if (!counted && token().text != "noreturn")
      fail("unknown directive '." + std::string(token().text) + "'");
    next();
    if (counted) integer("a register count");
  }
  expect(';', "after .callprototype");
}

// instruction = guard? mnemonic (operand (',' operand)*)? ';'
void BodyParser::instruction(const Token& first) {
  Instruction i;
  i.line = first.line;
  i.column = first.column;
  i.loc = loc_;
  Token word = first;
  if (first.is('@')) {
    guard(i);
    word = token();
    if (word.kind != TokenKind::word) fail_expected("an instruction after a guard");
    i.line = word.line;
    i.column = word.column;
    next();
  }
  i.mnemonic = mnemonic(word);
  operands(i);
  if (i.mnemonic.ends_with(".b128")) return wide_instruction(std::move(i));
  function_.instructions.push_back(std::move(i));
}

// A register of 128 bits is a vector of two of 64, and what moves it moves that vector.
void BodyParser::wide_instruction(Instruction i) {
  const std::string_view root = i.mnemonic.substr(0, i.mnemonic.find('.'));
  const auto is_pair = [](const Operand& o) {
    return o.kind == Operand::Kind::vec && o.elems.size() == 2;
  };
  const auto in_braces = [](const Operand& o) { return o.elems[0].column != o.column; };
  if (root == "ld" || root == "st") {
    std::string spelling(i.mnemonic.substr(0, i.mnemonic.size() - 4));
    i.mnemonic = function_.spellings.emplace_back(spelling + "v2.b64");
  } else if (i.mnemonic == "mov.b128") {
    if (i.operands.size() != 2 || !is_pair(i.operands[0]) || !is_pair(i.operands[1]) ||
        (in_braces(i.operands[0]) && in_braces(i.operands[1])))
      throw SyntaxError{i.line, i.column,
                        "mov.b128 moves a register of 128 bits, or two of 64 to or from one"};
    Instruction high = i;
    for (Instruction* half : {&i, &high}) {
      half->mnemonic = "mov.b64";
      for (Operand& o : half->operands) o = Operand(o.elems[half == &high ? 1 : 0]);
    }
    function_.instructions.push_back(std::move(i));
    i = std::move(high);
  }
  function_.instructions.push_back(std::move(i));
}

// guard = '@' '!'? register
void BodyParser::guard(Instruction& i) {
  next();
  i.guard_negated = accept('!');
  const Token at = token();
  i.guard = register_index("a predicate register");
  if (function_.registers[size_t(i.guard)].type != Type::pred)
    fail_at(at, "a guard must be a predicate register; '" + std::string(at.text) + "' is not one");
}

// A mnemonic may have blanks before its suffixes ("mov .u32"); then its joined spelling is kept.
std::string_view BodyParser::mnemonic(const Token& first) {
  if (token().kind != TokenKind::directive) return first.text;
  std::string spelling(first.text);
  for (; token().kind == TokenKind::directive; next()) spelling.append(".").append(token().text);
  return function_.spellings.emplace_back(std::move(spelling));
}

}  // namespace parse

Status parse_body(Module& module, Function& function) {
  if (function.parsed) return Status::ok();
  if (!function.defined)
    return Error{1, diagnostic(module, function.line, 1,
                               "'" + function.name + "' is declared but has no body")};
  // What was read before an error is dropped.
  struct Drop {
    Function& function;
    ~Drop() {
      if (function.parsed) return;
      function.registers.clear();
      function.instructions.clear();
      function.locs.clear();
      function.tables.clear();
      function.variables.clear();
      function.spellings.clear();
    }
  } const drop{function};
  try {
    parse::BodyParser(module, function).body();
    function.parsed = true;
    return Status::ok();
  } catch (const parse::SyntaxError& e) {
    return Error{1, diagnostic(module, e.line, e.column, e.message)};
  } catch (const std::length_error& e) {
    return Error{1, module.name + ": cannot read the body of '" + function.name + "': " + e.what()};
  }
}

}  // namespace ridge::vm
