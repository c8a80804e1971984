// Accesses that no allocation holds and a GPU lets pass. A GPU maps memory in pages of 2 MiB, so
// that a kernel which runs a little past an array's end reads zeros, or writes where nobody looks,
// and the program works. So it does here, but it is told.
#include "vm/exec/grid.h"

namespace ridge::vm {
namespace {

// A line of the source; without line information, of the PTX.
Engine::Line line_of(const Code& code, const Inst* inst) {
  const uint64_t program = code.kernel->program->id;
  const Instruction* source = code.meta_of(inst).source;
  if (!source) return {program, ~0u, 0};
  if (source->loc < 0) return {program, ~0u, source->line};
  const SourceLoc& loc = code.function->locs[size_t(source->loc)];
  return {program, loc.file, loc.line};
}

}  // namespace

bool passes_on_a_gpu(Warp& w, const Inst* inst, uint32_t lane, uint64_t address, uint32_t size,
                     const char* what) {
  Engine& engine = *w.worker->engine;
  const EngineOptions& options = engine.options();
  const Observer* watching = w.block->grid->observer;
  if (options.strict || (watching && watching->wants_exact_bounds())) return false;
  if (!w.worker->memory->is_mapped_on_a_gpu(address, address + size)) return false;
  if (options.warn && engine.is_first_warning(line_of(*w.frame->code, inst))) {
    auto told = fault_finding(w, inst, FaultKind::illegal_address, lane, address, size, what);
    told.severity = report::Severity::warning;
    told.notes.push_back(
        "a GPU lets this pass, because it has mapped memory there; the program goes on "
        "(ridge check and ridge run --strict stop here)");
    options.warn(told);
  }
  return true;
}

}  // namespace ridge::vm
