#include "vm/cudart/host_access.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>

#include "vm/cudart/memory.h"
#include "vm/cudart/report.h"
#include "vm/cudart/runtime.h"
#include "vm/exec/observer.h"

namespace ridge::vm::cudart {
namespace {

struct sigaction before;  // what SIGSEGV did until now

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

enum class Access : uint8_t { unknown, read, write };

struct HostAccess {
  uint64_t address = 0;
  Access access = Access::unknown;
  void* instruction = nullptr;
};

HostAccess access_of(const siginfo_t& info, const void* context) {
  HostAccess fault;
  fault.address = reinterpret_cast<uintptr_t>(info.si_addr);
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  fault.access = registers[REG_ERR] & 2 ? Access::write : Access::read;  // as the CPU tells it
  fault.instruction = reinterpret_cast<void*>(registers[REG_RIP]);
#else
  (void)context;
#endif
  return fault;
}

// The program's own code at the fault: a function of the C library that was handed the pointer is
// not the place to look at.
std::string host_place(void* instruction) {
  const auto library_of = [](void* address) {
    Dl_info found{};
    return dladdr(address, &found) && found.dli_fname ? std::string(found.dli_fname)
                                                      : std::string();
  };
  const auto is_of_system = [](const std::string& library) {
    const std::string name = library.substr(library.rfind('/') + 1);
    return name.starts_with("libc.so") || name.starts_with("libstdc++") ||
           name.starts_with("libm.so") || name.starts_with("libridge_gpu");
  };
  void* frames[32];
  const int count = backtrace(frames, 32);
  void** place = std::find(frames, frames + count, instruction);
  while (place < frames + count && is_of_system(library_of(*place))) ++place;
  if (place >= frames + count) return {};
  Dl_info found{};
  if (!dladdr(*place, &found) || !found.dli_fname) return {};
  const auto offset = [&](const void* from) {
    return "+" + hex(uint64_t(static_cast<char*>(*place) - static_cast<const char*>(from)));
  };
  const std::string file = found.dli_fname;
  return found.dli_sname ? found.dli_sname + offset(found.dli_saddr)
                         : file.substr(file.rfind('/') + 1) + offset(found.dli_fbase);
}

std::string memory_at(uint64_t address) {
  const Allocations& memory = runtime().engine.memory();
  const auto live = memory.find(address);
  const auto home = live ? live : memory.find_freed(address);
  if (!home) return hex(address) + " is in no allocation";
  const std::string into =
      hex(address) + " is " + std::to_string(address - home->base) + " bytes into ";
  const std::string size = " (" + std::to_string(home->size) + " bytes)";
  if (!home->name.empty()) return into + "the variable '" + home->name + "'" + size;
  return into + (home->kind == MemKind::device ? "cudaMalloc allocation #" : "allocation #") +
         std::to_string(home->id) + size + (live ? "" : ", which has been freed");
}

void tell(const HostAccess& fault) {
  const char* does = fault.access == Access::write  ? "writes to"
                     : fault.access == Access::read ? "reads"
                                                    : "touches";
  const std::string place = host_place(fault.instruction);
  std::string text = std::string("the host ") + does +
                     " device memory: " + memory_at(fault.address) +
                     "; copy with cudaMemcpy, or allocate with cudaMallocManaged";
  if (!place.empty()) text += "\n  at " + place;
  report_once("host access at " + hex(reinterpret_cast<uintptr_t>(fault.instruction)), text);
  if (Observer* watching = observer()) watching->refuses("host-access", text);
}

// What the program asked for; without a wish of its own, the access happens again and ends it.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction wanted = before;
  const bool handles = wanted.sa_flags & SA_SIGINFO ||
                       (wanted.sa_handler != SIG_DFL && wanted.sa_handler != SIG_IGN);
  if (!handles || wanted.sa_flags & SA_RESETHAND) ::signal(signal, SIG_DFL);
  if (wanted.sa_flags & SA_SIGINFO) wanted.sa_sigaction(signal, info, context);
  else if (handles) wanted.sa_handler(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const HostAccess fault = access_of(*info, context);
  if (info->si_code == SEGV_ACCERR && runtime().engine.memory().is_closed(fault.address))
    tell(fault);
  pass_on(signal, info, context);
}

}  // namespace

void watch_host_accesses() {
  // Its first use loads a library, which a signal's handler must not.
  void* frame = nullptr;
  backtrace(&frame, 1);
  sigaction(SIGSEGV, nullptr, &before);
  struct sigaction action = before;  // the program's handler runs under the mask it asked for
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (before.sa_flags & SA_NODEFER);
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace ridge::vm::cudart
