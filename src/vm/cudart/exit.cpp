// The end of the process. Kernels and host threads may still be running: nothing they use is ever
// destroyed, nothing queued is started any more, and what the device has printed appears.
#include <cstdio>
#include <string>

#include "vm/cudart/config.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/leaks.h"
#include "vm/cudart/report.h"
#include "vm/cudart/runtime.h"
#include "vm/exec/observer.h"
#include "vm/report/sink.h"

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

// On a GPU a kernel that is still under way is ended with its process, and so is what it prints.
void tell_unfinished() {
  if (sticky_error()) return;
  for (const UnfinishedKernel& kernel : runtime().scheduler.unfinished()) {
    report::Finding f;
    f.kind = "unfinished";
    f.severity = report::Severity::warning;
    f.kernel = report::function_name(kernel.name);
    f.first.place = report::host_place(kernel.call);
    f.message = "the program ends without having waited for kernel " + f.kernel;
    f.fix = "call cudaDeviceSynchronize() before the program ends, and look at what it returns";
    report::tell(f);
  }
}

// Runs after main's static objects and atexit handlers, because the program depends on this
// library.
__attribute__((destructor)) void at_exit() {
  if (runtime_started()) {
    tell_unfinished();
    runtime().scheduler.abandon();
    runtime().engine.flush_printf();
    if (config().count) tell_counts(runtime().engine.counts());
    tell_leaks();
  }
  if (Observer* watching = observer()) watching->finish();
  report::write_end(0);  // where no observer has: a program that never used the device ends, too
}

}  // namespace
}  // namespace ridge::vm::cudart
