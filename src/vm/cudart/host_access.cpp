#include "vm/cudart/host_access.h"

#include <execinfo.h>
#include <ucontext.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>

#include "core/text.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/work.h"
#include "vm/exec/observer.h"
#include "vm/report/host_place.h"
#include "vm/report/sink.h"

namespace ridge::vm::cudart {
namespace {

struct sigaction before;  // what SIGSEGV did until now

Observer::HostAccess access_of(const siginfo_t& info, const void* context) {
  Observer::HostAccess access{};
  access.address = reinterpret_cast<uintptr_t>(info.si_addr);
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  access.writes = registers[REG_ERR] & 2;  // as the CPU tells it
  access.instruction = uintptr_t(registers[REG_RIP]);
#else
  (void)context;
#endif
  access.inside = host_function_order();
  return access;
}

std::string name_of(const Allocation& a) {
  const std::string size = " (" + std::to_string(a.size) + " bytes)";
  if (!a.name.empty()) return "the variable '" + a.name + "'" + size;
  return (a.kind == MemKind::device ? "cudaMalloc allocation #" : "allocation #") +
         std::to_string(a.id) + size;
}

std::string memory_at(uint64_t address) {
  const Allocations& memory = runtime().engine.memory();
  const auto bytes = [&](uint64_t n) {
    return hex_text(address) + " is " + std::to_string(n) + (n == 1 ? " byte " : " bytes ");
  };
  if (const auto live = memory.find(address))
    return bytes(address - live->base) + "into " + name_of(*live);
  if (const auto freed = memory.find_freed(address))
    return bytes(address - freed->base) + "into " + name_of(*freed) + ", which has been freed";
  const auto near = memory.nearest(address);
  if (!near || !memory.is_closed(near->base)) return hex_text(address) + " is in no allocation";
  return address < near->base
             ? bytes(near->base - address) + "before " + name_of(*near)
             : bytes(address - near->end()) + "behind the end of " + name_of(*near);
}

void tell(const Observer::HostAccess& access) {
  report::Finding f;
  f.kind = "host-access";
  f.space = "global";
  f.first.act = access.writes ? "write" : "read";
  f.first.who = "the host";
  f.first.place = report::host_place(report::host_call_at(access.instruction));
  f.address = access.address;
  f.message = std::string("the host ") + (access.writes ? "writes to" : "reads") +
              " device memory: " + memory_at(access.address);
  f.fix = "copy with cudaMemcpy, or allocate with cudaMallocManaged";
  report::tell(f);
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
  const int error = errno;
  const Observer::HostAccess access = access_of(*info, context);
  Observer* const watching = observer();
  if (info->si_code == SEGV_ACCERR) {
    if (watching && watching->host_touches(access)) {
      errno = error;
      return;
    }
    if (runtime().engine.memory().is_closed(access.address)) tell(access);
  }
  errno = error;
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
