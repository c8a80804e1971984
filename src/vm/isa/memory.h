// How an instruction reaches memory: per-lane addresses to host pointers, checked, a space at a
// time.
//
// Fields of every memory instruction:
//   a        base address (a 64-bit vector for global, generic and param, a 32-bit one for shared
//            and local)
//   b        constant byte offset
//   c        in local instructions, 1 adds the frame's base (a function's own variables)
//   d        first data register
//   x[0] …   the other elements of a vector
#pragma once

#include <cstring>

#include "vm/exec/warp.h"
#include "vm/isa/lane.h"

namespace ridge::vm {

// A value as it lies in memory and the register lane that holds it.
template <class M>
using RegisterOf =
    std::conditional_t<sizeof(M) == 1, std::conditional_t<std::is_signed_v<M>, int16_t, uint16_t>,
                       M>;

template <class M>
inline M load_as(const void* p) {
  M value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class M, int V>
struct Elements {
  M e[V];
};

inline uint32_t data_register(const Inst* inst, int element) {
  return element == 0 ? inst->d : reinterpret_cast<const uint32_t*>(inst + 1)[element - 1];
}
template <int V>
inline const Inst* after(const Inst* inst) {
  return inst + (V > 1 ? 2 : 1);
}

// Local memory is interleaved by 4-byte words, so that lanes using the same offset touch one line.
inline uint8_t* local_byte(const Warp& w, uint32_t offset, int lane) {
  return w.local + (size_t(offset / 4) * kWarpSize + lane) * 4 + offset % 4;
}
template <int Bytes>
inline void local_read(const Warp& w, uint32_t offset, int lane, void* out) {
  if constexpr (Bytes <= 4) {
    std::memcpy(out, local_byte(w, offset, lane), Bytes);
  } else {
    for (int k = 0; k < Bytes; k += 4)
      std::memcpy(static_cast<uint8_t*>(out) + k, local_byte(w, offset + k, lane), 4);
  }
}
template <int Bytes>
inline void local_write(const Warp& w, uint32_t offset, int lane, const void* in) {
  if constexpr (Bytes <= 4) {
    std::memcpy(local_byte(w, offset, lane), in, Bytes);
  } else {
    for (int k = 0; k < Bytes; k += 4)
      std::memcpy(local_byte(w, offset + k, lane), static_cast<const uint8_t*>(in) + k, 4);
  }
}

// Where the lanes' bytes of global memory lie in this process; none after a fault.
struct GlobalPlaces {
  const uint64_t* base = nullptr;
  uint64_t offset = 0;
  explicit operator bool() const { return base; }
  void* operator[](int lane) const { return reinterpret_cast<void*>(base[lane] + offset); }
};
// Checks every active lane's [address, address + bytes) against the live allocations; on failure
// raises the fault of the lowest offending lane and returns none. `bytes` is a power of two and the
// required alignment.
GlobalPlaces check_global(Warp& w, const Inst* inst, const uint64_t* address, int64_t offset,
                          uint32_t bytes, const char* what);
// The same for a 32-bit space of `limit` bytes that begins at address 0.
bool check_window(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset,
                  uint32_t bytes, uint32_t limit, const char* what);

// Whether [at, at + bytes) lies in the block's shared memory or in that of a peer of its cluster;
// false after a fault.
bool check_shared(Warp& w, const Inst* inst, int lane, uint32_t at, uint32_t bytes,
                  const char* what);
// Where the lanes' bytes of shared memory lie, in the block's own or in that of a peer of its
// cluster; false after a fault.
bool find_shared(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset, uint32_t bytes,
                 const char* what, uint8_t** places);

// Splits a generic access into its spaces and runs each with its lanes: `run(space, offsets)`,
// where `offsets` are 32-bit addresses in the window for shared, local and param, and null for
// global.
template <class Run>
inline bool by_space(Warp& w, const uint64_t* address, int64_t offset, Run run) {
  constexpr Space kSpaces[3] = {Space::shared, Space::local, Space::param};
  const uint32_t all = w.mask;
  const uint64_t shift = uint64_t(offset) - kSharedWindow;  // windows begin 1 << 32 apart
  alignas(32) uint32_t relative[kWarpSize];
  if (!is_few(all)) {
    // Nearly always all lanes are in one window, or none is in any.
    const uint64_t first = address[__builtin_ctz(all)];
    const uint64_t window = (first + shift) / kWindowSize;
    uint64_t elsewhere = 0, near = 0;
    for (int i = 0; i < kWarpSize; ++i) {
      const uint64_t at = ((all >> i) & 1 ? address[i] : first) + shift;
      relative[i] = uint32_t(at);
      elsewhere |= (at / kWindowSize) ^ window;
      near |= uint64_t(at >> 34 == 0);
    }
    if (!near) return run(Space::global, nullptr);
    constexpr uint64_t kApart = (1ull << 32) / kWindowSize;
    const uint64_t which = window / kApart, part = window % kApart;
    if (!elsewhere && which < 3 && part < (which == 0 ? kMostRanks : 1))
      return run(kSpaces[which], relative);
  }
  uint32_t windows[3] = {0, 0, 0}, global = 0;
  each_active(all, [&](int i) {
    const uint64_t at = address[i] + shift;
    const uint64_t which = at >> 32;
    if (which < 3 && uint32_t(at) < (which == 0 ? kSharedWindowSize : kWindowSize)) {
      windows[which] |= 1u << i;
      relative[i] = uint32_t(at);
    } else {
      global |= 1u << i;
    }
  });
  bool ok = true;
  if (global) {
    w.mask = global;
    ok = run(Space::global, nullptr);
  }
  for (int k = 0; k < 3 && ok; ++k)
    if (windows[k]) {
      w.mask = windows[k];
      ok = run(kSpaces[k], relative);
    }
  w.mask = all;
  return ok;
}

}  // namespace ridge::vm
