#include "vm/cudart/managed.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "vm/cudart/memory.h"

namespace ridge::vm::cudart {
namespace {

constexpr uint64_t kPage = 4096;

bool same(const cudaMemLocation& a, const cudaMemLocation& b) {
  return a.type == b.type && a.id == b.id;
}

struct Advice {
  bool read_mostly = false, device_accesses = false, host_accesses = false;
  cudaMemLocation preferred{}, prefetched{};  // type 0: none
};

// Advice by page of an allocation; an entry holds from its key to the next one's.
struct Advised {
  uint64_t allocation = 0;  // its id: another one may come to lie there
  std::map<uint64_t, Advice> from;
};
struct AllManaged {
  std::mutex mutex;
  std::map<uint64_t, Advised> allocations;  // by base
};
AllManaged& all_managed() {
  static auto& instance = *new AllManaged;
  return instance;
}
using Lock = std::lock_guard<std::mutex>;

struct Pages {
  uint64_t base, id, first, end;
};
Pages pages_of(const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const Allocation found = *find_allocation(pointer);  // checked by the caller
  const uint64_t offset = address - found.base;
  return {found.base, found.id, offset / kPage, (offset + bytes + kPage - 1) / kPage};
}

Advised& advised(const Pages& pages) {
  Advised& found = all_managed().allocations[pages.base];
  if (found.allocation != pages.id) found = {pages.id, {{0, Advice{}}}};
  return found;
}

// An entry that begins exactly there, with what held there before.
auto split(std::map<uint64_t, Advice>& from, uint64_t page) {
  const auto before = std::prev(from.upper_bound(page));
  return before->first == page ? before : from.emplace(page, before->second).first;
}

template <class Change>
void change(const void* pointer, size_t bytes, Change&& body) {
  const Pages pages = pages_of(pointer, bytes);
  const Lock lock(all_managed().mutex);
  auto& from = advised(pages).from;
  const auto end = split(from, pages.end);
  for (auto it = split(from, pages.first); it != end; ++it) body(it->second);
}

bool is_host(const cudaMemLocation& l) { return l.type != cudaMemLocationTypeDevice; }

// The older attributes know a number for each place.
int place(const cudaMemLocation& l) {
  if (l.type == cudaMemLocationTypeDevice) return l.id;
  return l.type == cudaMemLocationTypeInvalid ? cudaInvalidDeviceId : cudaCpuDeviceId;
}
// A location's id means something for devices and NUMA nodes.
int id_of(const cudaMemLocation& l) {
  const bool numbered =
      l.type == cudaMemLocationTypeDevice || l.type == cudaMemLocationTypeHostNuma;
  return numbered ? l.id : cudaInvalidDeviceId;
}

}  // namespace

cudaError_t check_location(const cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice: return location.id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent: return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t check_managed(const void* pointer, size_t bytes) {
  const auto found = find_allocation(pointer);
  if (!bytes || !found || !is_managed(*found)) return cudaErrorInvalidValue;
  return classify(pointer, bytes) == Range::known ? cudaSuccess : cudaErrorInvalidValue;
}

void note_prefetch(const void* pointer, size_t bytes, const cudaMemLocation& location) {
  change(pointer, bytes, [&](Advice& advice) { advice.prefetched = location; });
}

void note_advice(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                 const cudaMemLocation& location) {
  change(pointer, bytes, [&](Advice& a) {
    bool& accesses = is_host(location) ? a.host_accesses : a.device_accesses;
    switch (advice) {
      case cudaMemAdviseSetReadMostly: a.read_mostly = true; break;
      case cudaMemAdviseUnsetReadMostly: a.read_mostly = false; break;
      case cudaMemAdviseSetPreferredLocation: a.preferred = location; break;
      case cudaMemAdviseUnsetPreferredLocation: a.preferred = {}; break;
      case cudaMemAdviseSetAccessedBy: accesses = true; break;
      case cudaMemAdviseUnsetAccessedBy: accesses = false; break;
    }
  });
}

cudaError_t range_attribute(void* data, size_t bytes, cudaMemRangeAttribute attribute,
                            const void* pointer, size_t count) {
  if (const cudaError_t error = check_managed(pointer, count)) return error;
  const bool list = attribute == cudaMemRangeAttributeAccessedBy;
  if (!data || !bytes || bytes % sizeof(int) || (!list && bytes != sizeof(int)))
    return cudaErrorInvalidValue;
  const Pages pages = pages_of(pointer, count);
  const Lock lock(all_managed().mutex);
  const auto& from = advised(pages).from;
  auto it = std::prev(from.upper_bound(pages.first));
  Advice common = it->second;
  for (++it; it != from.end() && it->first < pages.end; ++it) {
    const Advice& a = it->second;
    common.read_mostly &= a.read_mostly;
    common.device_accesses &= a.device_accesses;
    common.host_accesses &= a.host_accesses;
    if (!same(common.preferred, a.preferred)) common.preferred = {};
    if (!same(common.prefetched, a.prefetched)) common.prefetched = {};
  }
  const auto answer = [&](int value) { return std::memcpy(data, &value, 4), cudaSuccess; };
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly: return answer(common.read_mostly);
    case cudaMemRangeAttributePreferredLocation: return answer(place(common.preferred));
    case cudaMemRangeAttributeLastPrefetchLocation: return answer(place(common.prefetched));
    case cudaMemRangeAttributePreferredLocationType: return answer(common.preferred.type);
    case cudaMemRangeAttributePreferredLocationId: return answer(id_of(common.preferred));
    case cudaMemRangeAttributeLastPrefetchLocationType: return answer(common.prefetched.type);
    case cudaMemRangeAttributeLastPrefetchLocationId: return answer(id_of(common.prefetched));
    case cudaMemRangeAttributeAccessedBy: {
      int* out = static_cast<int*>(data);
      int* const end = out + bytes / sizeof(int);
      if (common.device_accesses) *out++ = 0;
      if (common.host_accesses && out != end) *out++ = cudaCpuDeviceId;
      std::fill(out, end, cudaInvalidDeviceId);
      return cudaSuccess;
    }
  }
  return cudaErrorInvalidValue;
}

void forget_advice() {
  const Lock lock(all_managed().mutex);
  all_managed().allocations.clear();
}

}  // namespace ridge::vm::cudart
