// The end of the process. Kernels and host threads may still be running: nothing they use is ever
// destroyed, nothing queued is started any more, and what the device has printed appears.
#include <cstdio>
#include <string>

#include "vm/cudart/config.h"
#include "vm/cudart/report.h"
#include "vm/cudart/runtime.h"
#include "vm/exec/observer.h"

namespace ridge::vm::cudart {
namespace {

void tell_counts(const InstructionCounts& counts) {
  const std::string warp = std::to_string(counts.warp_instructions);
  const std::string thread = std::to_string(counts.thread_instructions);
  if (config().count_file.empty()) {
    report(warp + " warp instructions, " + thread + " thread instructions");
    return;
  }
  FILE* file = std::fopen(config().count_file.c_str(), "we");
  if (!file) {
    report("cannot write the counts to " + config().count_file);
    return;
  }
  std::fprintf(file, "{\"warp_instructions\": %s, \"thread_instructions\": %s}\n", warp.c_str(),
               thread.c_str());
  std::fclose(file);
}

// Runs after main's static objects and atexit handlers, because the program depends on this
// library.
__attribute__((destructor)) void at_exit() {
  Observer* const watching = observer();
  if (runtime_started()) {
    runtime().scheduler.abandon();
    runtime().engine.flush_printf();
    if (config().count) tell_counts(runtime().engine.counts());
    if (watching) watching->leaves(runtime().engine.memory());
  }
  if (watching) watching->finish();  // a program that never used the device has ended, too
}

}  // namespace
}  // namespace ridge::vm::cudart
