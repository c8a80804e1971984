// What the parser makes of PTX text. The parser knows PTX's grammar and scoping, and nothing about
// any instruction: an instruction is its dotted mnemonic and its operands; src/vm/isa decides
// whether such a spelling exists.
//
// Function bodies are parsed on demand (`parse_body`), because a launch needs one kernel of a
// module that may hold hundreds. All names are resolved here: registers to indices, variables and
// functions to pointers, labels to instruction indices.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/status.h"
#include "vm/parse/types.h"

namespace ridge::vm {

struct Function;
struct Variable;
struct Match;

enum class Linkage : uint8_t { internal, visible, external, weak, common };

// A pointer stored in an initialiser: the address of `variable` or `function`, plus `addend`, at
// byte `offset`.
struct Relocation {
  uint64_t offset = 0;
  const Variable* variable = nullptr;
  const Function* function = nullptr;
  int64_t addend = 0;
  // generic(sym): the generic address, not the one in the variable's own space.
  bool generic = false;
  uint8_t size = 8;  // bytes stored; a byte of the address when size is 1 (mask below)
  uint8_t byte = 0;  // which byte, for 0xFF(sym)-style masks
};

// A variable in any space but .reg: .global, .const, .shared, .local, and .param of kernels,
// functions and calls.
struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::b8;
  Linkage linkage = Linkage::internal;
  uint32_t align = 1;  // natural alignment when the declaration has none
  uint64_t size = 0;   // bytes; 0 for an unsized array (`.extern .shared .b8 s[]`)
  bool unsized = false;
  bool managed = false;       // .attribute(.managed)
  std::vector<uint8_t> init;  // empty: zero-initialised
  std::vector<Relocation> relocations;
  uint32_t line = 0;  // PTX line of the declaration
};

struct Register {
  std::string name;
  Type type = Type::b32;
};

// Where an instruction came from in the user's source (.loc). Inlined code has the place it was
// inlined at, too.
struct SourceLoc {
  uint32_t file = 0;  // index of .file
  uint32_t line = 0;
  uint32_t column = 0;
  int32_t inlined_at = -1;  // index into Function::locs, -1 for none
};

struct Operand {
  enum class Kind : uint8_t {
    reg,      // %r1, !%p1 (negated), %r1|%p1 (second), %r1.b0 (`text` is "b0")
    imm,      // bits, as is_float / is_f64 say
    special,  // %tid.x: `text` holds the name with its component
    symbol,   // a variable's address as a value, or a function, plus offset
    address,  // [base + offset], the base a register, a symbol, or nothing; `elems` are x and y in
              // [base, {x, y}], and b and the vec in [base, b, {x, y}]
    vec,      // {a, b, c, d}: `elems`; {a, b}|%p (second)
    label,    // a branch target: `target` is an instruction's index, or past them the body's end
    table,    // a .branchtargets / .calltargets / .callprototype label: `target` indexes
              // Function::tables
    list,     // (a, b): call arguments and results: `elems`
    sink,     // _
  };
  Kind kind = Kind::sink;
  bool negated = false;   // !%p
  bool is_float = false;  // imm written 0f… (f32 bits in `bits`), 0d… or 1.5 (f64 bits)
  bool is_f64 = false;
  int32_t reg = -1;     // register index; base register of an address
  int32_t second = -1;  // register after '|'
  uint64_t bits = 0;    // imm
  const Variable* variable = nullptr;
  const Function* function = nullptr;
  int64_t offset = 0;  // address, symbol
  uint32_t target = 0;
  uint32_t column = 0;  // 1-based, for carets
  std::string text;     // special; a selected byte or half of a register
  std::vector<Operand> elems;
};

struct Instruction {
  std::string_view mnemonic;  // "mad.lo.s32", into the module's text
  int32_t guard = -1;         // predicate register of @%p, -1 for none
  bool guard_negated = false;
  uint32_t line = 0;  // PTX line and column, 1-based
  uint32_t column = 0;
  int32_t loc = -1;  // index into Function::locs
  std::vector<Operand> operands;
  const Match* match = nullptr;  // its row of the instruction tables, once decoded
};

struct BranchTable {
  std::string name;
  std::vector<uint32_t> targets;           // .branchtargets: instruction indices
  std::vector<const Function*> functions;  // .calltargets
  std::vector<Variable> params, results;   // .callprototype
};

struct Function {
  std::string name;
  bool entry = false;    // .entry
  bool defined = false;  // has a body
  bool noreturn = false;
  Linkage linkage = Linkage::internal;
  std::deque<Variable> params, results;
  uint32_t maxntid[3] = {0, 0, 0};  // 0: not given
  uint32_t reqntid[3] = {0, 0, 0};
  uint32_t minnctapersm = 0;
  uint32_t maxnreg = 0;
  uint32_t maxnctapersm = 0;
  uint32_t reqnctapercluster[3] = {0, 0, 0};
  uint32_t maxclusterrank = 0;
  bool explicitcluster = false, blocksareclusters = false;
  uint32_t line = 0;

  // Filled by parse_body.
  bool parsed = false;
  std::vector<Register> registers;
  std::deque<Variable> variables;  // .shared, .local, call .param declared inside the body
  std::vector<Instruction> instructions;
  std::vector<SourceLoc> locs;
  std::vector<BranchTable> tables;
  std::vector<uint32_t> nounroll;  // where .pragma "nounroll" stands: the instructions that follow
  std::deque<std::string> spellings;  // mnemonics written with blanks inside ("mov .u32"), joined

  // The body's text, for parse_body: offsets into Module::text, the braces excluded, and the line
  // it starts on.
  size_t body_begin = 0, body_end = 0;
  uint32_t body_line = 0, body_column = 0;
};

struct Module {
  std::string name;  // for diagnostics: a file name, or "program.ptx"
  std::string text;
  int version_major = 0, version_minor = 0;
  std::string target;     // "sm_90"
  bool optimised = true;  // not with .target …, debug, or when the loader says so
  int address_size = 64;
  std::vector<std::string> files;  // by .file index; empty strings for gaps
  std::deque<Variable> variables;
  std::deque<Function> functions;
  std::unordered_map<std::string_view, Variable*> variable_by_name;
  std::unordered_map<std::string_view, Function*> function_by_name;
};

// Reads all but function bodies. An error is "name:line:column: what" with the line and a caret
// below it. Out of memory is std::bad_alloc, here and in parse_body, which may be tried again.
Expected<std::unique_ptr<Module>> parse_module(std::string text, std::string name);

// Reads one function's body; does nothing when already read. Not thread-safe: the loader holds the
// module's lock.
Status parse_body(Module& module, Function& function);

// "name:line:column: message", the source line, and a caret: the one form all loader diagnostics
// take.
std::string diagnostic(const Module& module, uint32_t line, uint32_t column,
                       std::string_view message);

}  // namespace ridge::vm
