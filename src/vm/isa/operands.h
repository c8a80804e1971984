// The operands of a row. The grammar of its text:
//
//   operands   operand {"," operand}                     "d|p,a,b:u32,c:u32"
//   operand    role [count] [":" type] | "[" name "]" [":" space]
//   role       d            destination register
//              x            the same, and a source, too
//              p            destination predicate
//              a b c e …    source: a register or an immediate
//              d|p, p|q     the same with an optional second destination, a predicate
//   count      4            a scalar or a vector, as the spelling's v2, v4 or v8 says
//              *            a fragment of a matrix: as many registers in braces as
//                           Handlers::fragments says
//              @            four registers in braces (a fragment), or one 64-bit descriptor of a
//                           matrix in shared memory
//              #            a literal below Handlers::literals
//              ?            the literal 0 or 1
//              ~            the literal 1 or -1
//   type       0 1 …        the first, second … type of the spelling; without a type: the first
//              w            twice as wide as the first
//              a name       "u32", "pred"
//   [name]     a memory address
//   space      shared, global: where an instruction has several addresses; otherwise the spelling
//              names the space
//              tensor: a tensor map in any space, with the coordinates of a box: [map, {x, y}]
//
// The operands of jumps and calls ("label", "table", "call") are read by the decoder itself.
#pragma once

#include <vector>

#include "vm/isa/form.h"

namespace ridge::vm {

struct OperandSpec {
  bool dest = false, second = false, address = false, vector = false;
  bool updated = false;  // a destination that is read first
  bool fragment = false, fragment_or_descriptor = false;
  bool literal = false, flag = false, sign = false;
  bool tensor = false;  // an address with coordinates
  int type_index = 0;  // which type of the spelling; -1: `type`; -2: twice as wide as the first
  Type type = Type::none;
  Space space = Space::reg;  // of an address; reg: the one that the spelling names
};
const std::vector<OperandSpec>& operand_specs(const InstrDef& row);
Type operand_type(const OperandSpec& spec, const Form& form);

// How many operands a row's instruction is written with.
int operand_count(const InstrDef& row);

}  // namespace ridge::vm
