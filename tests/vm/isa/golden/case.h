// What the golden program runs: one case per spelling, read from the instruction tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vm/isa/form.h"

namespace ridge::golden {

struct Argument {
  enum class Role { destination, source, literals, address };
  Role role = Role::source;
  vm::Type type = vm::Type::none;
  bool second = false;  // a destination with a predicate after '|'
  int elements = 1;     // of a vector in braces
  // Operands that PTX wants as immediates; each is a run of its own.
  std::vector<std::string> literals;
  std::string selector;  // ".h1", of video instructions
};

struct Case {
  std::string spelling;  // its name: the mnemonic, then selectors ("vadd.s32.s32.s32 a.h1 b.b0")
  std::string mnemonic;
  std::string_view group;
  std::vector<Argument> arguments;
  bool carry_in = false, carry_out = false, borrows = false;
  bool whole_warps = false;              // exchanges values between lanes
  vm::Space space = vm::Space::generic;  // of its address

  // Types of the input words of a thread, in order: sources, then the carry, then what memory
  // holds.
  std::vector<vm::Type> inputs() const;
  // Types of its output words.
  std::vector<vm::Type> outputs() const;
  bool uses_memory() const;
  int threads() const;
};

inline constexpr int kCellWords = 2;  // 64-bit words of memory a thread has

// All cases, in the order of the tables. `missing` receives memory spellings the tables should have
// and have not.
std::vector<Case> collect_cases(std::vector<std::string>* missing);

// Whether the golden program runs this row at all, and if not, why ("control flow").
std::string_view why_not_run(std::string_view group, const vm::InstrDef& row);

}  // namespace ridge::golden
