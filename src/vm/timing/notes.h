// What the model does not know of a kernel: said beside its time, which gets a wider band.
#pragma once

#include "model/work.h"
#include "vm/decode/code.h"
#include "vm/timing/spins.h"

namespace ridge::vm::timing {

void add_notes(model::Work& work, const Code& code, const Spins& spins);

}  // namespace ridge::vm::timing
