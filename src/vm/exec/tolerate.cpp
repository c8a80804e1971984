// Bugs that a GPU lets pass. It maps memory in pages of 2 MiB, so that a kernel which runs a little
// past an array's end reads zeros, or writes where nobody looks, and the program works. It cuts off
// the size of a bulk copy. So it is here, but it is told.
#include "vm/exec/tolerate.h"

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

// Nobody wants to stop there.
bool is_tolerant(const Warp& w) {
  const Observer* watching = w.block->grid->observer;
  return !w.worker->engine->options().strict && !(watching && watching->wants_exact_bounds());
}

// Once for each line.
template <class MakeFinding>
void warn(const Warp& w, const Inst* inst, MakeFinding finding, const char* why) {
  Engine& engine = *w.worker->engine;
  const EngineOptions& options = engine.options();
  if (!options.warn || !engine.is_first_warning(line_of(*w.frame->code, inst))) return;
  report::Finding told = finding();
  told.severity = report::Severity::warning;
  told.notes.push_back(std::string("a GPU lets this pass") + why +
                       "; the program goes on (ridge check and ridge run --strict stop here)");
  options.warn(told);
}

}  // namespace

bool passes_on_a_gpu(Warp& w, const Inst* inst, uint32_t lane, uint64_t address, uint32_t size,
                     const char* what) {
  if (!is_tolerant(w)) return false;
  if (!w.worker->memory->is_mapped_on_a_gpu(address, address + size)) return false;
  warn(
      w, inst,
      [&] { return fault_finding(w, inst, FaultKind::illegal_address, lane, address, size, what); },
      ", because it has mapped memory there");
  return true;
}

bool bulk_size_passes_on_a_gpu(Warp& w, const Inst* inst, uint32_t lane, uint32_t size) {
  if (!is_tolerant(w)) return false;
  warn(
      w, inst, [&] { return fault_finding(w, inst, FaultKind::bulk_size, lane, size, 0, ""); }, "");
  return true;
}

}  // namespace ridge::vm
