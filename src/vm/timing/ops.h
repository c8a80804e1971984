// The machine instructions that ptxas makes of a function's PTX, as far as time depends on them.
#pragma once

#include "model/figures.h"
#include "model/work.h"
#include "vm/observe/plan.h"

namespace ridge::vm::timing {

// Which op of its step makes an access.
uint32_t op_of(const observe::Step& step, const observe::Touch& touch);

// Appends the steps of `code` to the work, in the order of its instructions, and its registers.
// What they cost follows from the pipes of a GPU.
void append_steps(model::Work& work, const Code& code, const observe::Plan& plan,
                  const model::Figures& figures);

}  // namespace ridge::vm::timing
