// A stand-in for the engine below the runtime, so that the runtime can be tested without executing
// PTX. Its modules are written in one line a thing:
//
//   kernel NAME params=8,4 registers=32 static_shared=0 max_threads=1024
//   variable NAME 64
//
// What a kernel does when it runs is a host function the test gives.
#pragma once

#include <functional>
#include <string>

#include "vm/exec/engine.h"

namespace ridge::vm::fake {

using Body = std::function<Fault(const Launch&)>;

void on_run(const std::string& kernel, Body body);  // replaces what an earlier test gave
void forget_bodies();  // they may refer to what a test has on its stack

}  // namespace ridge::vm::fake
