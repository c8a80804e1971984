// The instruction tables' own types. A PTX instruction is one row: its spelling, its operands, the
// unit that executes it, its facts, and the function that picks its handlers. The decoder, the
// golden tests and the documentation are loops over rows.
//
// Spelling: the root, then groups of modifiers. [a|b|c] needs one of them, {a|b|c} allows one; a
// name after '%' stands for a set of types (see kTypeSets). Groups match in any order, as programs
// write them in several, except that two groups which hold the same modifier match left to right:
// "cvt{rn|rz}[%num][%num]".
//
// Operands: comma-separated; operands.h has the grammar.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/isa/facts.h"
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

// What the modifiers of a spelling say, read once (kMeanings in form.cpp).
enum class Order : uint8_t { weak, relaxed, acquire, release, acq_rel, sc, is_volatile, mmio };
enum class MemoryScope : uint8_t { unsaid, cta, cluster, gpu, sys };
enum class Operation : uint8_t {
  none,
  add,
  inc,
  dec,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  exch,
  cas
};
enum class Comparison : uint8_t { none, equal, unequal, less, greater };
enum class Rounding : uint8_t { unsaid, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };

// A spelling that matched a row: its modifiers in the order written, and their meaning.
struct Form {
  std::vector<std::string_view> modifiers;  // without dots
  std::array<Type, 6> types{};
  int type_count = 0;
  Space space = Space::generic;
  Order order = Order::weak;
  MemoryScope scope = MemoryScope::unsaid;
  Operation operation = Operation::none;
  Rounding rounding = Rounding::unsaid;
  Comparison comparison = Comparison::none;  // less or equal is `less`
  uint8_t vector = 1;                        // elements: v2, v4, v8
  uint8_t matrices = 1;                      // x2, x4
  bool ftz = false, sat = false, approx = false;
  bool lo = false, wide = false;               // which part of a product
  bool read_only = false;                      // ld.global.nc
  bool bypasses_l1 = false;                    // cg
  bool aligned = false;                        // whole warps must reach it together
  bool has_policy = false;                     // one more operand: L2::cache_hint
  bool by_level = false, by_gradient = false;  // how a texture's level is chosen

  Type type() const { return types[0]; }
  Type last_type() const { return type_count ? types[size_t(type_count) - 1] : Type::none; }
  bool acquires() const { return order == Order::acquire || order == Order::acq_rel; }
  bool releases() const { return order == Order::release || order == Order::acq_rel; }
  // Rounded to a value of the type, in a way that the program chose.
  bool is_rounded() const { return rounding >= Rounding::rn && rounding <= Rounding::rp; }

  // For the tables' own use, in src/vm/isa: everybody else asks for a meaning.
  bool has(std::string_view modifier) const;
  // The first of `names` that is among the modifiers, else `otherwise`.
  int index_of(std::initializer_list<std::string_view> names, int otherwise = -1) const;
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
  Facts facts;
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
  std::string_view root;  // "mad" of "mad.lo.s32"
  Form form;
  Handlers handlers;

  const Facts& facts() const { return row->facts; }
};
// Finds the row for "mad.lo.s32". Where two rows differ in operands only (bar.sync with and without
// a count), the number of operands written decides; -1: whichever comes first. `error` says what is
// missing when there is none.
const Match* find_instruction(std::string_view mnemonic, std::string* error, int operands = -1);

// Every concrete spelling of a row, for tests and documentation.
std::vector<std::string> expand(const InstrDef& row);

}  // namespace ridge::vm
