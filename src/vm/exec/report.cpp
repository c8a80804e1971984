// What the user reads when a kernel goes wrong: what happened, where in the source, which thread,
// and which memory was nearest. One report a launch.
#include <cxxabi.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "vm/exec/block.h"
#include "vm/exec/grid.h"

namespace ridge::vm {
namespace {

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
  char text[1024];
  va_list args;
  va_start(args, pattern);
  std::vsnprintf(text, sizeof text, pattern, args);
  va_end(args);
  return text;
}

std::string demangle(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : name;
  std::free(text);
  return result;
}

// nvcc writes absolute paths; those below the current folder are shown as the user types them.
std::string place(const Module& module, const SourceLoc& loc) {
  std::string file = loc.file < module.files.size() ? module.files[loc.file] : "?";
  std::error_code no_folder;
  const std::string folder = std::filesystem::current_path(no_folder).string() + "/";
  if (!no_folder && file.starts_with(folder)) file.erase(0, folder.size());
  return file + ":" + std::to_string(loc.line);
}

const InstMeta* meta_of(const Code& code, const Inst* inst) {
  const Inst* first = code.insts.data();
  return inst < first || inst >= first + code.insts.size() ? nullptr : &code.meta_of(inst);
}

// "kernel.cu:27" with -lineinfo, and where the function it was inlined into called it; the PTX line
// otherwise.
std::string source_of(const Code& code, const Instruction* source) {
  if (!source) return "an unknown place";
  std::string text;
  if (source->loc >= 0) {
    const SourceLoc* loc = &code.function->locs[size_t(source->loc)];
    text = place(*code.module, *loc);
    while (loc->inlined_at >= 0) {
      loc = &code.function->locs[size_t(loc->inlined_at)];
      text += ", inlined at " + place(*code.module, *loc);
    }
    text += format(" (PTX line %u: %s)", source->line, std::string(source->mnemonic).c_str());
  } else {
    text = format("PTX line %u: %s (build with -lineinfo to see the source line)", source->line,
                  std::string(source->mnemonic).c_str());
  }
  return text;
}

std::string source_of(const Code& code, const Inst* inst) {
  const InstMeta* meta = meta_of(code, inst);
  return source_of(code, meta ? meta->source : nullptr);
}

// Of a merged load, the PTX instruction that reads the word at `address`.
std::string source_of_fault(const Warp& w, const Inst* inst, uint32_t lane, uint64_t address) {
  const Code& code = *w.frame->code;
  const InstMeta* meta = meta_of(code, inst);
  if (!meta || meta->merged < 0) return source_of(code, inst);
  const uint32_t first = w.src<uint32_t>(inst->a)[lane] + inst->b;
  return source_of(code, code.merged[size_t(meta->merged) + (uint32_t(address) - first) / 4]);
}

std::string thread_text(const Block& block, uint32_t thread) {
  const Dim3& n = block.grid->launch->block;
  return format("block (%u,%u,%u), thread (%u,%u,%u)", block.ctaid[0], block.ctaid[1],
                block.ctaid[2], thread % n.x, thread / n.x % n.y, thread / n.x / n.y);
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
    return format("the variable '%s' (%llu bytes)", a.name.c_str(), (unsigned long long)a.size);
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

const char* headline(FaultKind kind) {
  switch (kind) {
    case FaultKind::illegal_address: return "illegal memory access";
    case FaultKind::misaligned_address: return "misaligned memory access";
    case FaultKind::invalid_address_space: return "access in the wrong address space";
    case FaultKind::invalid_pc: return "invalid program counter";
    case FaultKind::illegal_instruction: return "illegal instruction";
    case FaultKind::hardware_stack: return "stack overflow";
    case FaultKind::assert_failed: return "device assertion failed";
    case FaultKind::trap: return "launch failure";
    case FaultKind::image: return "illegal texture or surface access";
    case FaultKind::timeout: return "the kernel cannot finish";
    default: return "launch failed";
  }
}

}  // namespace

std::string kernel_name(const GridRun& grid) {
  std::string name = demangle(grid.code->entry->name);
  if (const size_t paren = name.find('('); paren != std::string::npos) name.resize(paren);
  return name;
}

std::string describe_fault(const Warp& w, const Inst* inst, FaultKind kind, uint32_t lane,
                           uint64_t address, uint32_t size, const char* what) {
  const Block& block = *w.block;
  const GridRun& grid = *block.grid;
  std::string text = format("ridge: %s in kernel %s\n", headline(kind), kernel_name(grid).c_str());
  if (kind == FaultKind::assert_failed) {
    text += std::string("  ") + what + "\n";
  } else if (size) {
    const bool window = kind != FaultKind::invalid_address_space &&
                        std::string_view(what).find(' ') != std::string_view::npos;
    text += format("  %s of %u bytes at %s0x%llx\n", what, size, window ? "offset " : "",
                   (unsigned long long)address);
  } else {
    text += format("  %s%s\n", what,
                   address ? format(" (0x%llx)", (unsigned long long)address).c_str() : "");
  }
  text += "  at " + source_of_fault(w, inst, lane, address) + "\n";
  text += "  by " + thread_text(block, w.index * kWarpSize + lane);
  const std::string_view kind_of_access(what);
  if (kind == FaultKind::misaligned_address && size) {
    text += format("\n  the address must be a multiple of %u", size);
  } else if (kind == FaultKind::illegal_address && size) {
    if (kind_of_access.starts_with("shared"))
      text += format("\n  the block has %u bytes of shared memory (%u static, %u dynamic)",
                     w.shared_size, grid.code->static_shared, grid.launch->dynamic_shared);
    else if (kind_of_access.starts_with("local"))
      text += format("\n  the thread has %u bytes of local memory", w.local_size);
    else text += "\n  " + nearest_text(*w.worker->memory, address, size);
  } else if (kind == FaultKind::hardware_stack) {
    text += format(
        "\n  the thread has %u bytes of local memory for its calls; is the recursion endless?",
        w.local_size);
  }
  return text;
}

std::string describe_deadlock(const Block& block) {
  std::string text =
      format("ridge: the kernel cannot finish: %s waits for threads that will never come\n",
             kernel_name(*block.grid).c_str());
  int lines = 0;
  for (const Warp& w : block.warps)
    for (const Fragment& f : w.fragments) {
      if (++lines > 6) continue;
      const uint32_t first = w.index * kWarpSize + uint32_t(__builtin_ctz(f.mask));
      const bool barrier = f.state == Fragment::State::at_barrier;
      text += format("  warp %u, lanes 0x%08x wait at %s ", w.index, f.mask,
                     barrier ? format("barrier %u", unsigned(f.barrier)).c_str()
                             : format("a .sync instruction for lanes 0x%08x", f.need).c_str());
      const Inst* pc = f.pc - (barrier ? 2 : 0);
      text +=
          "at " + source_of(*f.frame->code, pc) + "; first is " + thread_text(block, first) + "\n";
    }
  for (uint32_t id = 0; id < block.barriers.size(); ++id) {
    const Barrier& b = block.barriers[id];
    if (!b.arrived) continue;
    if (b.whole_block)
      text += format(
          "  barrier %u: %u of %u threads arrived, %u have exited\n", id, b.arrived, block.threads,
          block.exited_threads - (uint32_t(block.warps.size()) * kWarpSize - block.threads));
    else
      text += format("  barrier %u: %u of the %u threads it was told to expect arrived\n", id,
                     b.arrived, b.expected);
  }
  text +=
      "  hardware would hang here; is a __syncthreads() or __syncwarp() inside a branch that some "
      "threads skip?";
  return text;
}

std::string describe_timeout(const GridRun& grid, const Block* block) {
  std::string text =
      format("ridge: kernel %s ran past the time limit: %llu of %llu blocks were done",
             kernel_name(grid).c_str(), (unsigned long long)grid.done.load(),
             (unsigned long long)grid.blocks);
  if (block)
    for (const Warp& w : block->warps)
      for (const Fragment& f : w.fragments)
        if (f.state == Fragment::State::runnable || f.state == Fragment::State::asleep) {
          const uint32_t first = w.index * kWarpSize + uint32_t(__builtin_ctz(f.mask));
          return text + "\n  still running at " + source_of(*f.frame->code, f.pc) + " in " +
                 thread_text(*block, first);
        }
  return text;
}

const Inst* raise(Warp& w, const Inst* inst, FaultKind kind, uint32_t lane, uint64_t address,
                  uint32_t size, const char* what) {
  if (!w.worker->fault)
    w.worker->fault = {kind, describe_fault(w, inst, kind, lane, address, size, what)};
  w.stop = Stop::fault;
  return nullptr;
}

bool check_range(Warp& w, const Inst* inst, uint64_t begin, uint64_t end) {
  const auto allocation = w.worker->memory->find(begin);
  if (!allocation || end > allocation->end() || end < begin) return false;
  w.worker->ranges[(reinterpret_cast<uintptr_t>(inst) >> 5) & 63] = {allocation->base,
                                                                     allocation->end()};
  return true;
}

}  // namespace ridge::vm
