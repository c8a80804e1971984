// Where an instruction stands in the user's source.
#pragma once

#include "vm/decode/code.h"
#include "vm/report/finding.h"

namespace ridge::vm {

// The innermost line that is not the toolkit's; without -lineinfo, the PTX line alone.
report::Place place_of(const Code& code, const Instruction* source);
report::Place place_of(const Code& code, const Inst* inst);

}  // namespace ridge::vm
