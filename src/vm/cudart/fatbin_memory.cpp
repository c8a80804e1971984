// From bare pointers to bounded spans: how far memory can be read, and where a wrapper's containers
// lie.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

#include "vm/cudart/api.h"
#include "vm/cudart/fatbin.h"

namespace ridge::vm::cudart {
namespace {

struct RawWrapper {
  uint32_t magic;
  uint32_t version;
  const void* container;
  const void* const* units;  // version 2 only; a file name otherwise
};

constexpr size_t kMaxContainer = size_t(1) << 32;
constexpr size_t kMaxUnits = 65536;

Error unreadable(const char* what) {
  return {cudaErrorInvalidKernelImage, std::string("the program's fat binary is damaged: ") + what};
}

}  // namespace

size_t readable_bytes(const void* address, size_t limit) {
  const auto from = reinterpret_cast<uintptr_t>(address);
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                   std::fclose);
  if (!maps) return limit;  // nothing to check against: trust the pointer, as the driver does
  uintptr_t end = from;     // readable up to here
  char line[512];
  while (std::fgets(line, sizeof line, maps.get())) {
    uintptr_t low = 0, high = 0;
    char readable = 0;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c", &low, &high, &readable) != 3) continue;
    if (low <= end && end < high && readable == 'r') end = high;
    if (low > end || end - from >= limit) break;
  }
  return end - from < limit ? end - from : limit;
}

Expected<std::span<const uint8_t>> container_at(const void* address) {
  constexpr size_t kHeader = 16;
  if (!address || readable_bytes(address, kHeader) < kHeader)
    return unreadable("it points nowhere");
  const auto* bytes = static_cast<const uint8_t*>(address);
  uint16_t header_bytes;
  uint64_t body_bytes;
  std::memcpy(&header_bytes, bytes + 6, sizeof header_bytes);
  std::memcpy(&body_bytes, bytes + 8, sizeof body_bytes);
  if (body_bytes > kMaxContainer) return unreadable("its size is implausible");
  const size_t size = header_bytes + body_bytes;
  if (readable_bytes(address, size) < size) return unreadable("it ends before its last image");
  return std::span(bytes, size);
}

Expected<Wrapper> read_wrapper(const void* wrapper) {
  RawWrapper raw;
  if (!wrapper || readable_bytes(wrapper, sizeof raw) < sizeof raw)
    return unreadable("it points nowhere");
  std::memcpy(&raw, wrapper, sizeof raw);
  if (raw.magic != kWrapperMagic) return unreadable("the wrapper's magic number is wrong");
  if (raw.version != 1 && raw.version != 2) return unreadable("the wrapper's version is unknown");
  Wrapper result;
  if (raw.version == 1 || raw.container) {
    const auto linked = container_at(raw.container);
    if (!linked) return linked.error();
    result.linked = *linked;
  }
  if (raw.version == 1 || !raw.units) return result;
  for (size_t i = 0; i < kMaxUnits; ++i) {
    const void* unit = nullptr;
    if (readable_bytes(raw.units + i, sizeof unit) < sizeof unit)
      return unreadable("its list of units does not end");
    std::memcpy(&unit, raw.units + i, sizeof unit);
    if (!unit) return result;
    const auto container = container_at(unit);
    if (!container) return container.error();
    result.units.push_back(*container);
  }
  return unreadable("its list of units does not end");
}

}  // namespace ridge::vm::cudart
