#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ridge/vm_counters.h"
#include "vm/cudart/runtime.h"
#include "vm/timing/modelled.h"

using namespace ridge::vm::cudart;

namespace {

// The page-aligned part [first, end) of the range; what is outside is copied.
bool map_repeated(uint8_t* to, size_t bytes, const uint8_t* pattern, size_t period) {
  const auto page = size_t(sysconf(_SC_PAGESIZE));
  if (period == 0 || period % page || bytes < 2 * period) return false;
  const size_t head = (page - reinterpret_cast<uintptr_t>(to) % page) % page;
  const size_t whole = (bytes - head) / page * page;
  const int file = memfd_create("ridge pattern", MFD_CLOEXEC);
  if (file < 0) return false;
  // The file begins where the first whole page is in the pattern.
  const bool is_written =
      pwrite(file, pattern + head, period - head, 0) == ssize_t(period - head) &&
      pwrite(file, pattern, head, off_t(period - head)) == ssize_t(head);
  bool is_mapped = is_written;
  for (size_t at = 0; is_mapped && at < whole; at += period)
    is_mapped = mmap(to + head + at, std::min(period, whole - at), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) != MAP_FAILED;
  close(file);
  if (!is_mapped) return false;
  std::memcpy(to, pattern, head);
  for (size_t at = head + whole; at < bytes; ++at) to[at] = pattern[at % period];
  return true;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void ridge_vm_model_begin() {
  ridge::vm::timing::begin_modelling(runtime().gpu());
}

__attribute__((visibility("default"))) int ridge_vm_model_begin_alone() {
  if (runtime().scheduler.has_several_hosts()) return 0;
  ridge::vm::timing::begin_modelling(runtime().gpu(), true);
  return 1;
}

__attribute__((visibility("default"))) int ridge_vm_model_end(RidgeVmModelled* out) {
  // As the harness does it.
  const auto all = ridge::vm::timing::end_modelling(2 * double(runtime().gpu().l2_bytes));
  *out = {};
  out->us = all.us;
  out->low_us = all.low_us;
  out->high_us = all.high_us;
  out->graph_us = all.graph_us;
  std::snprintf(out->bound, sizeof out->bound, "%s", all.bound.c_str());
  std::snprintf(out->why, sizeof out->why, "%s", all.why.c_str());
  return int(all.launches.size());
}

__attribute__((visibility("default"))) int ridge_vm_repeat(void* to, size_t bytes,
                                                           const void* pattern, size_t period) {
  return map_repeated(runtime().engine.memory().place(static_cast<uint8_t*>(to)), bytes,
                      static_cast<const uint8_t*>(pattern), period);
}

}  // extern "C"
