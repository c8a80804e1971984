#include "vm/cudart/leaks.h"

#include <map>
#include <mutex>
#include <string>

#include "vm/cudart/errors.h"
#include "vm/cudart/runtime.h"
#include "vm/exec/observer.h"
#include "vm/report/host_place.h"
#include "vm/report/sink.h"

namespace ridge::vm::cudart {
namespace {

struct Calls {
  std::mutex mutex;
  std::map<uint64_t, report::HostCall> by_address;
};
Calls& calls() {  // never destroyed: threads may allocate while the process exits
  static Calls& instance = *new Calls;
  return instance;
}

bool looks_for_leaks() {
  const Observer* watching = observer();
  return watching && watching->looks_for_leaks();
}

struct Leak {
  uint64_t count = 0, bytes = 0;
  Allocation first;
};

}  // namespace

void note_allocation(uint64_t address) {
  if (!looks_for_leaks()) return;
  const report::HostCall call = report::host_call();
  const std::lock_guard lock(calls().mutex);
  calls().by_address[address] = call;
}

void tell_leaks() {
  if (!looks_for_leaks() || sticky_error()) return;  // a dead device frees nothing
  std::map<report::HostCall, Leak> leaks;
  for (const Allocation& a : runtime().engine.memory().live()) {
    if (a.kind != MemKind::device && a.kind != MemKind::managed) continue;
    const std::lock_guard lock(calls().mutex);
    const auto noted = calls().by_address.find(a.base);
    Leak& leak = leaks[noted == calls().by_address.end() ? report::HostCall{} : noted->second];
    if (!leak.count++) leak.first = a;
    leak.bytes += a.size;
  }
  for (const auto& [call, leak] : leaks) {
    report::Finding f;
    f.kind = "leak";
    f.severity = report::Severity::warning;
    f.first.act = "allocated";
    f.first.place = report::host_place(call);
    f.address = leak.first.base;
    f.message = leak.count == 1 ? "allocation #" + std::to_string(leak.first.id) + " of " +
                                      std::to_string(leak.first.size) + " bytes" +
                                      (leak.first.kind == MemKind::managed ? " (managed)" : "") +
                                      " is not freed when the program ends"
                                : std::to_string(leak.count) + " allocations, together " +
                                      std::to_string(leak.bytes) +
                                      " bytes, are not freed when the program ends";
    f.fix = "cudaFree it (or cudaFreeAsync) when it is no longer needed";
    report::tell(f);
  }
}

}  // namespace ridge::vm::cudart
