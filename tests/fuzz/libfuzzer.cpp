// The entry that clang's fuzzer looks for; RIDGE_FUZZ_TARGET names one of targets().
#include <cstddef>
#include <cstdint>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ridge::fuzz::Target& target = []() -> const ridge::fuzz::Target& {
    for (const ridge::fuzz::Target& t : ridge::fuzz::targets())
      if (t.name == RIDGE_FUZZ_TARGET) return t;
    __builtin_trap();
  }();
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
