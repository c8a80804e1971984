// The instruction tables' own types. A PTX instruction is one row: its spelling, its operands, what
// it uses and touches, and the function that picks its handlers. The decoder, the golden tests and
// the documentation are loops over rows.
//
// Spelling: the root, then groups of modifiers. [a|b|c] needs one of them, {a|b|c} allows one; a
// name after '%' stands for a set of types (see kTypeSets). Groups match in any order, as programs
// write them in several, except that two groups which hold the same modifier match left to right:
// "cvt{rn|rz}[%num][%num]".
//
// Operands: comma-separated. Roles:
//   d          destination register
//   a b c e …  sources: register or immediate
//   p|q        predicate destination with an optional second
//   d|p        destination with an optional predicate
//   [a]        memory address; [a]:shared, [a]:global where an instruction has several
//   d4, b4     a scalar or a vector, as the spelling's v2/v4 says
//   d*, a* …   a fragment of a matrix: as many registers as Handlers::fragments says, in braces
//   f#         a literal below Handlers::literals
// A type follows a colon: ":0" ":1" the first, second type of the spelling (":0" is the default),
// ":w" twice as wide as the first, or a type's name (":u32", ":pred").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/isa/inst.h"
#include "vm/parse/types.h"

namespace ridge::vm {

enum class Unit : uint8_t {
  alu,
  fma,
  fp64,
  half,
  sfu,
  conv,
  move,
  memory,
  shuffle,
  control,
  barrier,
  tensor,
  texture
};

// What an instruction does beyond its registers; the decoder and the observers ask for these.
enum Touches : uint16_t {
  kRegs = 0,
  kReads = 1,  // memory
  kWrites = 2,
  kAtomic = 4,
  kLanes = 8,       // exchanges values between lanes
  kConverges = 16,  // waits for other lanes (.sync, barriers): a guard becomes a branch around it
  kControl = 32,    // changes the program counter
  kFence = 64,
  kCarry = 128,  // reads or writes the carry flag
};

// A spelling that matched a row: its modifiers in the order written.
struct Form {
  std::vector<std::string_view> modifiers;  // without dots
  std::array<Type, 6> types{};
  int type_count = 0;
  Type type() const { return types[0]; }
  bool has(std::string_view modifier) const;
  // The first of `names` that is among the modifiers, else `otherwise`.
  int index_of(std::initializer_list<std::string_view> names, int otherwise = -1) const;
  int vector() const { return has("v8") ? 8 : has("v4") ? 4 : has("v2") ? 2 : 1; }
  Space space() const;
};

// What a row's `select` answers: the handlers, whether they need the wide encoding, and flags for
// it.
struct Handlers {
  Handler full = nullptr;
  Handler masked = nullptr;
  bool wide = false;
  uint32_t flags = 0;
  // Registers of each fragment, in the order the operands are written; see fragment.h.
  std::array<uint8_t, 4> fragments{};
  uint8_t literals = 0;
};

struct InstrDef {
  std::string_view spelling;
  std::string_view operands;
  Unit unit;
  uint16_t touches;
  Handlers (*select)(const Form&);  // {} when this combination of modifiers does not exist
};

// How a row's result compares with the hardware's, for the golden tests and the documentation.
//   exact: bit for bit. bounded: within the ULP bound PTX states. undefined: only that it runs.
struct Group {
  std::string_view name;  // "integer arithmetic"
  std::span<const InstrDef> rows;
};
std::span<const Group> groups();

struct Match {
  const InstrDef* row = nullptr;
  Form form;
  Handlers handlers;
};
// Finds the row for "mad.lo.s32". Where two rows differ in operands only (bar.sync with and without
// a count), the number of operands written decides; -1: whichever comes first. `error` says what is
// missing when there is none.
const Match* find_instruction(std::string_view mnemonic, std::string* error, int operands = -1);
// How many operands a row's instruction is written with.
int operand_count(const InstrDef& row);

// Every concrete spelling of a row, for tests and documentation.
std::vector<std::string> expand(const InstrDef& row);

}  // namespace ridge::vm
