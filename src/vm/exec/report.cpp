// Faults as findings: what happened, where in the source, which thread, and which memory was
// nearest. One per launch.
#include <cstdarg>
#include <cstdio>

#include "vm/exec/block.h"
#include "vm/exec/grid.h"
#include "vm/exec/place.h"

namespace ridge::vm {
namespace {

using report::Finding;
using report::Place;

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
  char text[1024];
  va_list args;
  va_start(args, pattern);
  std::vsnprintf(text, sizeof text, pattern, args);
  va_end(args);
  return text;
}

// Of a merged load, the PTX instruction that reads the word at `address`.
Place place_of_fault(const Warp& w, const Inst* inst, uint32_t lane, uint64_t address) {
  const Code& code = *w.frame->code;
  const Inst* begin = code.insts.data();
  if (inst < begin || inst >= begin + code.insts.size()) return {};
  const InstMeta& meta = code.meta_of(inst);
  if (meta.merged < 0) return place_of(code, inst);
  const uint32_t first = w.src<uint32_t>(inst->a)[lane] + inst->b;
  return place_of(code, code.merged[size_t(meta.merged) + (uint32_t(address) - first) / 4]);
}

std::string thread_text(const Block& block, uint32_t thread) {
  const Dim3& n = block.grid->launch->block;
  const uint32_t xyz[] = {thread % n.x, thread / n.x % n.y, thread / n.x / n.y};
  return report::thread_name(xyz, block.ctaid);
}

const char* kind_name(MemKind kind) {
  switch (kind) {
    case MemKind::device: return "cudaMalloc";
    case MemKind::array: return "CUDA array";
    case MemKind::managed: return "managed";
    case MemKind::pinned: return "pinned host";
    case MemKind::registered: return "registered host";
    case MemKind::device_heap: return "device malloc";
    case MemKind::variable: return "variable";
    case MemKind::mapped: return "mapped";
  }
  return "?";
}
std::string describe(const Allocation& a) {
  if (!a.name.empty())
    return format("the %s '%s' (%llu bytes)", a.kind == MemKind::variable ? "variable" : "array",
                  a.name.c_str(), (unsigned long long)a.size);
  return format("%s allocation #%llu (0x%llx, %llu bytes)", kind_name(a.kind),
                (unsigned long long)a.id, (unsigned long long)a.base, (unsigned long long)a.size);
}

std::string nearest_text(const Allocations& memory, uint64_t address, uint32_t size) {
  if (const auto freed = memory.find_freed(address); freed && !memory.find(address))
    return "the address is " +
           format("%llu bytes into ", (unsigned long long)(address - freed->base)) +
           describe(*freed) + ", which has been freed: use after free";
  if (address < 4096) return "the address is a null pointer (or an offset from one)";
  if (const auto inside = memory.find(address))
    return format("the access ends %llu bytes past the end of ",
                  (unsigned long long)(address + size - inside->end())) +
           describe(*inside);
  const auto near = memory.nearest(address);
  if (!near) return "the program has allocated no device memory";
  const bool after = address >= near->end();
  const uint64_t distance = after ? address - near->end() : near->base - address;
  std::string text = format("the address is %llu bytes %s ", (unsigned long long)distance,
                            after ? "after the end of" : "before") +
                     describe(*near);
  if (!memory.is_device_range(address) && distance > (1ull << 32))
    text = "the address is not device memory: is it a host pointer? nearest: " + describe(*near);
  return text;
}

// The finding's kind, and the message of those whose kind does not say it all.
struct KindOfFault {
  const char* kind;
  const char* message;
};
KindOfFault kind_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::illegal_address: return {"out-of-bounds", ""};
    case FaultKind::misaligned_address: return {"misaligned", ""};
    case FaultKind::timeout: return {"deadlock", ""};
    case FaultKind::invalid_address_space: return {"fault", "access in the wrong address space"};
    case FaultKind::invalid_pc: return {"fault", "invalid program counter"};
    case FaultKind::illegal_instruction: return {"fault", "illegal instruction"};
    case FaultKind::bulk_size: return {"bulk-size", ""};
    case FaultKind::registers: return {"setmaxnreg", ""};
    case FaultKind::hardware_stack: return {"fault", "stack overflow"};
    case FaultKind::assert_failed: return {"assert", "device assertion failed"};
    case FaultKind::trap: return {"fault", "launch failure"};
    case FaultKind::image: return {"fault", "illegal texture or surface access"};
    default: return {"fault", "launch failed"};
  }
}

Finding finding_of(FaultKind kind, const GridRun& grid) {
  const KindOfFault words = kind_of(kind);
  Finding f;
  f.kind = words.kind;
  f.kernel = kernel_name(grid);
  if (*words.message) f.message = words.message + (" in kernel " + f.kernel);
  return f;
}

void add_nearest_memory(Finding& f, const Warp& w, uint64_t address, uint32_t size,
                        std::string_view what) {
  const GridRun& grid = *w.block->grid;
  f.fix = "check the index against the size before the access";
  if (what.starts_with("shared")) {
    f.space = "shared";
    f.notes.push_back(format("the block has %u bytes of shared memory (%u static, %u dynamic)",
                             w.shared_size, grid.code->static_shared, grid.launch->dynamic_shared));
  } else if (what.starts_with("local")) {
    f.space = "local";
    f.notes.push_back(format("the thread has %u bytes of local memory", w.local_size));
  } else {
    const Allocations& memory = *w.worker->memory;
    f.space = "global";
    f.notes.push_back(nearest_text(memory, address, size));
    if (!memory.find_freed(address) || memory.find(address)) return;
    f.kind = "use-after-free";
    f.fix = "free the memory after the last kernel that uses it";
  }
}

}  // namespace

std::string kernel_name(const GridRun& grid) {
  const LaunchNotesRef& notes = grid.launch->notes;
  return notes && !notes->title.empty() ? notes->title
                                        : report::function_name(grid.code->entry->name);
}

Finding fault_finding(const Warp& w, const Inst* inst, FaultKind kind, uint32_t lane,
                      uint64_t address, uint32_t size, const char* what) {
  const Block& block = *w.block;
  Finding f = finding_of(kind, *block.grid);
  f.first.who = thread_text(block, w.index * kWarpSize + lane);
  f.first.place = place_of_fault(w, inst, lane, address);
  f.address = address;
  if (kind == FaultKind::assert_failed) {
    f.first.act = "assert";
    f.notes.push_back(what);
  } else if (size) {
    const bool window = kind != FaultKind::invalid_address_space &&
                        std::string_view(what).find(' ') != std::string_view::npos;
    f.first.act = format("%s of %u bytes at %s0x%llx", what, size, window ? "offset " : "",
                         static_cast<unsigned long long>(address));
  } else {
    f.first.act = what;
    if (address) f.first.act += format(" (0x%llx)", static_cast<unsigned long long>(address));
  }
  if (kind == FaultKind::bulk_size) {  // the address is the size
    f.address = 0;
    f.first.act = format("cp.async.bulk of %u bytes", uint32_t(address));
    f.notes.push_back(
        format("hardware looks at bits 4 to 19 of the size only: it copies %u bytes "
               "and says nothing",
               uint32_t(address) & 0xffff0u));
    f.fix = "copy multiples of 16 bytes, below 1 MiB at once, and the rest with loads and stores";
  } else if (kind == FaultKind::registers) {
    for (std::string& line : block.pool.lines()) f.notes.push_back(std::move(line));
    f.fix = "let all four warps of the warpgroup (128 threads) execute the same setmaxnreg";
  } else if (kind == FaultKind::misaligned_address && size) {
    f.notes.push_back(format("the address must be a multiple of %u", size));
    f.fix =
        "a vector access needs an address that is a multiple of its size: check the offset, "
        "or use smaller accesses";
  } else if (kind == FaultKind::illegal_address && size) {
    add_nearest_memory(f, w, address, size, what);
  } else if (kind == FaultKind::hardware_stack) {
    f.notes.push_back(
        format("the thread has %u bytes of local memory for its calls; is the recursion endless?",
               w.local_size));
  }
  return f;
}

Fault fault_with_message(FaultKind kind, std::string message) {
  Finding f;
  f.kind = kind_of(kind).kind;
  f.message = std::move(message);
  return {kind, std::move(f)};
}

namespace {

// Warps that wait for registers: how many they ask for, how many there are, what would do.
void add_registers(Finding& f, const Block& block) {
  const RegisterPool& pool = block.pool;
  uint32_t wanted = 0, held = 0;
  for (const Warp& w : block.warps)
    for (const Fragment& fragment : w.fragments)
      if (fragment.state == Fragment::State::at_registers) {
        held = pool.held_by(w.index);
        wanted = pool.wanted_by(w.index);
      }
  f.kind = "setmaxnreg";
  f.message =
      "setmaxnreg.inc waits for registers that the block never gets; hardware would hang here";
  const uint32_t entry = block.grid->code->entry_registers;
  const uint32_t warps = uint32_t(block.warps.size());
  f.notes.insert(
      f.notes.begin(),
      {format("a warp asks for %u registers per thread and has %u: it needs %u registers more, and "
              "%u of the block are free",
              wanted, held, (wanted - held) * kWarpSize, pool.free()),
       format("the block has %u registers: %u for each of %u threads", entry * warps * kWarpSize,
              entry, warps * kWarpSize)});
  for (std::string& line : pool.lines()) f.notes.push_back(std::move(line));
  // Those that wait and those that have got more share what the others leave.
  uint32_t registers = pool.free(), raised = 0;
  for (uint32_t k = 0; k < warps; ++k) {
    if (!pool.wanted_by(k) && pool.held_by(k) <= entry) continue;
    registers += pool.held_by(k) * kWarpSize;
    ++raised;
  }
  const uint32_t possible =
      registers / (raised * kWarpSize) / RegisterPool::kStep * RegisterPool::kStep;
  f.fix = format(
      "give back more in the other warpgroups (setmaxnreg.dec, executed by all four warps), or ask "
      "for at most %u registers here",
      possible);
}

}  // namespace

Finding deadlock_finding(const Block& block) {
  Finding f = finding_of(FaultKind::timeout, *block.grid);
  f.message = "threads wait for others that will never come; hardware would hang here";
  f.fix =
      "let all threads of the block, or of the mask, reach it: is a __syncthreads() or "
      "__syncwarp() inside a branch that some threads skip?";
  int lines = 0;
  for (const Warp& w : block.warps)
    for (const Fragment& fragment : w.fragments) {
      const bool barrier = fragment.state == Fragment::State::at_barrier;
      const bool of_cluster = fragment.state == Fragment::State::at_cluster_barrier;
      const uint32_t first = w.index * kWarpSize + uint32_t(__builtin_ctz(fragment.mask));
      const Place place = place_of(*fragment.frame->code, fragment.pc - (barrier      ? 2
                                                                         : of_cluster ? 1
                                                                                      : 0));
      const bool registers = fragment.state == Fragment::State::at_registers;
      if (!registers && block.pool.waits()) continue;
      const std::string where =
          of_cluster  ? "barrier.cluster.wait"
          : registers ? format("setmaxnreg.inc %u", block.pool.wanted_by(w.index))
          : barrier   ? format("barrier %u", unsigned(fragment.barrier))
                      : format("a .sync instruction for lanes 0x%08x", fragment.need);
      const report::Party party{"wait at " + where, thread_text(block, first), place};
      if (!f.first.there()) f.first = party;
      if (of_cluster)
        f.fix =
            "let all threads of all blocks of the cluster reach it: is a cluster.sync() inside a "
            "branch that some threads skip?";
      if (!f.second.there() &&
          (place.line != f.first.place.line || place.ptx_line != f.first.place.ptx_line))
        f.second = party;
      if (++lines > 6) continue;
      f.notes.push_back(format("warp %u, lanes 0x%08x wait at %s, %s", w.index, fragment.mask,
                               where.c_str(),
                               place.line ? format("line %u", place.line).c_str()
                                          : format("PTX line %u", place.ptx_line).c_str()));
    }
  for (uint32_t id = 0; id < block.barriers.size(); ++id) {
    const Barrier& b = block.barriers[id];
    if (!b.arrived) continue;
    if (b.whole_block)
      f.notes.push_back(format(
          "barrier %u: %u of %u threads arrived, %u have exited", id, b.arrived, block.threads,
          block.exited_threads - (uint32_t(block.warps.size()) * kWarpSize - block.threads)));
    else
      f.notes.push_back(format("barrier %u: %u of the %u threads it was told to expect arrived", id,
                               b.arrived, b.expected));
  }
  if (block.pool.waits()) add_registers(f, block);
  return f;
}

Finding timeout_finding(const GridRun& grid, const Block* block) {
  Finding f = finding_of(FaultKind::timeout, grid);
  f.kind = "timeout";
  f.message =
      format("%llu of %llu blocks were done", static_cast<unsigned long long>(grid.done.load()),
             static_cast<unsigned long long>(grid.blocks));
  if (!block) return f;
  for (const Warp& w : block->warps)
    for (const Fragment& fragment : w.fragments)
      if (fragment.state == Fragment::State::runnable ||
          fragment.state == Fragment::State::asleep) {
        const uint32_t first = w.index * kWarpSize + uint32_t(__builtin_ctz(fragment.mask));
        f.first = {"still running", thread_text(*block, first),
                   place_of(*fragment.frame->code, fragment.pc)};
        f.fix = "does the loop around this line end? A larger --timeout gives the kernel more time";
        return f;
      }
  return f;
}

const Inst* raise(Warp& w, const Inst* inst, FaultKind kind, uint32_t lane, uint64_t address,
                  uint32_t size, const char* what) {
  if (!w.worker->fault)
    w.worker->fault = {kind, fault_finding(w, inst, kind, lane, address, size, what)};
  w.stop = Stop::fault;
  return nullptr;
}

bool check_range(Warp& w, const Inst* inst, uint64_t begin, uint64_t end) {
  const auto allocation = w.worker->memory->find(begin);
  if (!allocation || end > allocation->end() || end < begin) return false;
  range_of(w, inst) = {allocation->base, allocation->end(), w.worker->memory->shift(begin)};
  return true;
}

}  // namespace ridge::vm
