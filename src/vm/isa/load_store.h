// Loads and stores of one space, as templates over the value in memory (M), the vector length (V)
// and the mask.
#pragma once

#include "vm/isa/lane_vectors.h"
#include "vm/isa/memory.h"

namespace ridge::vm {

// --- scattering loaded elements into registers ---

// The registers of an instruction's elements, looked up once: after each store to memory the
// compiler would do it again.
template <class M, int V>
struct Destinations {
  RegisterOf<M>* element[V];
  Destinations(Warp& w, const Inst* inst) {
    for (int k = 0; k < V; ++k) element[k] = w.reg<RegisterOf<M>>(data_register(inst, k));
  }
  void put(int lane, const Elements<M, V>& value) const {
    for (int k = 0; k < V; ++k) element[k][lane] = value.e[k];
  }
};
template <class M, int V>
struct Sources {
  const RegisterOf<M>* element[V];
  Sources(const Warp& w, const Inst* inst) {
    for (int k = 0; k < V; ++k) element[k] = w.src<RegisterOf<M>>(data_register(inst, k));
  }
  Elements<M, V> get(int lane) const {
    Elements<M, V> value;
    for (int k = 0; k < V; ++k) value.e[k] = M(element[k][lane]);
    return value;
  }
};

#if !defined(__AVX2__)
template <class M, int V>
inline constexpr bool kHasTranspose = false;
#endif

// Lane i's elements lie at p + i * sizeof(Elements): the coalesced case.
template <class M, int V>
inline void load_contiguous(Warp& w, const Inst* inst, const uint8_t* p) {
#if defined(__AVX2__)
  if constexpr (V > 1 && kHasTranspose<M, V>)
    return put_vectors<M, V, true>(w, inst, [&](int i) { return p + i * int(sizeof(M) * V); });
#endif
  for (int k = 0; k < V; ++k) {
    auto* d = w.reg<RegisterOf<M>>(data_register(inst, k));
    if constexpr (V == 1 && sizeof(M) > 1) {
      std::memcpy(d, p, kWarpSize * sizeof(M));
    } else {
#pragma GCC ivdep
      for (int i = 0; i < kWarpSize; ++i) d[i] = load_as<M>(p + (i * V + k) * sizeof(M));
    }
  }
}
template <class M, int V>
inline void store_contiguous(const Warp& w, const Inst* inst, uint8_t* p) {
#if defined(__AVX2__)
  if constexpr (V > 1 && kHasTranspose<M, V>)
    return take_vectors<M, V>(w, inst, [&](int i) { return p + i * int(sizeof(M) * V); });
#endif
  for (int k = 0; k < V; ++k) {
    const auto* s = w.src<RegisterOf<M>>(data_register(inst, k));
    if constexpr (V == 1 && sizeof(M) > 1) {
      std::memcpy(p, s, kWarpSize * sizeof(M));
    } else {
#pragma GCC ivdep
      for (int i = 0; i < kWarpSize; ++i) {
        const M value = M(s[i]);
        std::memcpy(p + (i * V + k) * sizeof(M), &value, sizeof value);
      }
    }
  }
}

// The active lanes' elements, one lane after the other: from at(i) to registers; and from registers
// to to(i).
template <class M, int V, class At>
inline void load_by_lane(Warp& w, const Inst* inst, At at) {
  const Destinations<M, V> to(w, inst);
  const auto load_lane = [&](int i) { to.put(i, load_as<Elements<M, V>>(at(i))); };
  if (w.mask == kAllLanes)
    for (int i = 0; i < kWarpSize; ++i) load_lane(i);
  else each_active(w.mask, load_lane);
}
template <class M, int V, class To>
inline void store_by_lane(const Warp& w, const Inst* inst, To to) {
  const Sources<M, V> from(w, inst);
  each_active_storing<sizeof(M) * V>(w.mask, [&](int i) {
    const auto value = from.get(i);
    std::memcpy(to(i), &value, sizeof value);
  });
}
// All lanes', the inactive ones' too.
template <class M, int V, class To>
inline void store_all(const Warp& w, const Inst* inst, To to) {
#if defined(__AVX2__)
  if constexpr (kHasTranspose<M, V>) return take_vectors<M, V>(w, inst, to);
#endif
  const Sources<M, V> from(w, inst);
  each_lane_storing<sizeof(M) * V>([&](int i) {
    const auto value = from.get(i);
    std::memcpy(to(i), &value, sizeof value);
  });
}

// --- global ---

enum class Stride { unit, zero, other };
template <uint64_t Bytes>
inline Stride stride_of(const uint64_t* address) {
  uint64_t unit = 0, zero = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const uint64_t delta = address[i] - address[0];
    zero |= delta;
    unit |= delta ^ (i * Bytes);
  }
  return !unit ? Stride::unit : !zero ? Stride::zero : Stride::other;
}

template <class M, int V, bool Full>
inline bool load_global_at(Warp& w, const Inst* inst, const uint64_t* address, int64_t offset) {
  constexpr uint32_t kBytes = sizeof(M) * V;
  if constexpr (Full) {
    const Stride stride = stride_of<kBytes>(address);
    const uint64_t first = address[0] + offset;
    if (stride != Stride::other && first % kBytes == 0) {
      const uint64_t end = first + (stride == Stride::unit ? kWarpSize * kBytes : kBytes);
      if (range_is_known(w, inst, first, end) || check_range(w, inst, first, end)) {
        const uint8_t* p = known_place(w, inst, first);
        if (stride == Stride::unit) {
          load_contiguous<M, V>(w, inst, p);
        } else {
          const auto value = load_as<Elements<M, V>>(p);
          for (int k = 0; k < V; ++k) {
            auto* d = w.reg<RegisterOf<M>>(data_register(inst, k));
            for (int i = 0; i < kWarpSize; ++i) d[i] = value.e[k];
          }
        }
        return true;
      }
    }
  }
  const GlobalPlaces places = check_global(w, inst, address, offset, kBytes, "load");
  if (!places) return false;
  const auto at = [&](int i) { return static_cast<const uint8_t*>(places[i]); };
#if defined(__AVX2__)
  if constexpr (kHasTranspose<M, V>) {
    if constexpr (Full) {
      put_vectors<M, V, true>(w, inst, at);
      return true;
    }
    if (!is_few(w.mask)) {
      const uint8_t* any = at(__builtin_ctz(w.mask));
      put_vectors<M, V, false>(w, inst, [&](int i) { return w.mask >> i & 1 ? at(i) : any; });
      return true;
    }
  }
#endif
  load_by_lane<M, V>(w, inst, at);
  return true;
}

template <class M, int V, bool Full>
inline bool store_global_at(Warp& w, const Inst* inst, const uint64_t* address, int64_t offset) {
  constexpr uint32_t kBytes = sizeof(M) * V;
  if constexpr (Full) {
    const uint64_t first = address[0] + offset;
    if (first % kBytes == 0 && stride_of<kBytes>(address) == Stride::unit) {
      const uint64_t end = first + kWarpSize * kBytes;
      if (range_is_known(w, inst, first, end) || check_range(w, inst, first, end)) {
        store_contiguous<M, V>(w, inst, known_place(w, inst, first));
        return true;
      }
    }
  }
  const GlobalPlaces places = check_global(w, inst, address, offset, kBytes, "store");
  if (!places) return false;
  const auto to = [&](int i) { return static_cast<uint8_t*>(places[i]); };
  if constexpr (Full) {
    store_all<M, V>(w, inst, to);
  } else if (V == 1 || !kHasTranspose<M, V> || is_few(w.mask)) {
    store_by_lane<M, V>(w, inst, to);
  } else {
    uint8_t nowhere[kBytes];
    store_all<M, V>(w, inst, [&](int i) { return w.mask >> i & 1 ? to(i) : nowhere; });
  }
  return true;
}

// --- shared ---

template <class M, int V, bool Full>
inline bool load_shared_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  constexpr uint32_t kBytes = sizeof(M) * V;
#if defined(__AVX2__)
  SharedOffsets at;
  if ((Full || !is_few(w.mask)) &&
      shared_offsets<Full>(w, address, offset - int32_t(w.shared_start), kBytes, kBytes, at)) {
    const auto place = [&, shared = w.shared](int i) -> const uint8_t* {
      return shared + at.of[i];
    };
    if constexpr (sizeof(M) == 4) load_shared_words<V, Full>(w, inst, at);
    else if constexpr (kHasTranspose<M, V>) put_vectors<M, V, Full>(w, inst, place);
    else load_by_lane<M, V>(w, inst, place);
    return true;
  }
#endif
  uint8_t* places[kWarpSize];
  if (!find_shared(w, inst, address, offset, kBytes, "shared load", places)) return false;
  load_by_lane<M, V>(w, inst, [&](int i) { return places[i]; });
  return true;
}

template <class M, int V, bool Full>
inline bool store_shared_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  constexpr uint32_t kBytes = sizeof(M) * V;
#if defined(__AVX2__)
  if constexpr (Full && V == 1 && sizeof(M) == 4)
    if (store_shared_row(w, inst, address, offset - int32_t(w.shared_start))) return true;
  SharedOffsets at;
  if ((Full || !is_few(w.mask)) &&
      shared_offsets<Full>(w, address, offset - int32_t(w.shared_start), kBytes, kBytes, at)) {
    store_all<M, V>(w, inst, [&, shared = w.shared](int i) { return shared + at.of[i]; });
    return true;
  }
#endif
  uint8_t* places[kWarpSize];
  if (!find_shared(w, inst, address, offset, kBytes, "shared store", places)) return false;
  store_by_lane<M, V>(w, inst, [&](int i) { return places[i]; });
  return true;
}

// --- local and kernel parameters ---

// Do all active lanes use one address? Then each of its words is a row of 32, one per lane.
inline bool is_uniform(uint32_t mask, const uint32_t* address) {
  const uint32_t first = address[__builtin_ctz(mask)];
  uint32_t differ = 0;
  for (int i = 0; i < kWarpSize; ++i) differ |= (mask >> i & 1 ? address[i] : first) ^ first;
  return !differ;
}
template <uint32_t Bytes>
inline uint32_t* local_row(const Warp& w, const uint32_t* address, int32_t offset) {
  if (is_few(w.mask) || !is_uniform(w.mask, address)) return nullptr;
  const uint32_t at = address[__builtin_ctz(w.mask)] + uint32_t(offset);
  if (at % Bytes || uint64_t(at) + Bytes > w.local_size) return nullptr;
  return reinterpret_cast<uint32_t*>(local_byte(w, at / 4 * 4, 0));
}

template <class M, int V>
inline bool load_local_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  constexpr int kBytes = sizeof(M) * V;
  if (const uint32_t* row = local_row<kBytes>(w, address, offset)) {
    const uint32_t bit = 8 * (address[__builtin_ctz(w.mask)] + uint32_t(offset)) % 32;
    for (int k = 0; k < V; ++k) {
      auto* d = w.reg<RegisterOf<M>>(data_register(inst, k));
      if constexpr (sizeof(M) == 8) {
        const uint32_t *low = row + 2 * k * kWarpSize, *high = low + kWarpSize;
        each_lane<false>(d, w.mask, [&](int i) { return low[i] | uint64_t(high[i]) << 32; });
      } else {
        const uint32_t at = bit + 8 * uint32_t(k) * sizeof(M);
        const uint32_t* words = row + at / 32 * kWarpSize;
        each_lane<false>(d, w.mask, [&](int i) { return RegisterOf<M>(M(words[i] >> (at % 32))); });
      }
    }
    return true;
  }
  if (!check_window(w, inst, address, offset, kBytes, w.local_size, "local load")) return false;
  const Destinations<M, V> to(w, inst);
  each_active(w.mask, [&](int i) {
    Elements<M, V> value;
    local_read<kBytes>(w, address[i] + offset, i, &value);
    to.put(i, value);
  });
  return true;
}
template <class M, int V>
inline bool store_local_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  constexpr int kBytes = sizeof(M) * V;
  if (uint32_t* row = local_row<kBytes>(w, address, offset)) {
    const uint32_t bit = 8 * (address[__builtin_ctz(w.mask)] + uint32_t(offset)) % 32;
    for (int k = 0; k < V; ++k) {
      const auto* s = w.src<RegisterOf<M>>(data_register(inst, k));
      if constexpr (sizeof(M) == 8) {
        uint32_t *low = row + 2 * k * kWarpSize, *high = low + kWarpSize;
        each_lane<false>(low, w.mask, [&](int i) { return uint32_t(s[i]); });
        each_lane<false>(high, w.mask, [&](int i) { return uint32_t(s[i] >> 32); });
      } else {
        const uint32_t at = bit + 8 * uint32_t(k) * sizeof(M);
        uint32_t* words = row + at / 32 * kWarpSize;
        const uint32_t bits = uint32_t(~0ull >> (64 - 8 * sizeof(M))) << (at % 32);
        each_lane<false>(words, w.mask, [&](int i) {
          return (words[i] & ~bits) | (uint32_t(s[i]) << (at % 32) & bits);
        });
      }
    }
    return true;
  }
  if (!check_window(w, inst, address, offset, kBytes, w.local_size, "local store")) return false;
  const Sources<M, V> from(w, inst);
  each_active(w.mask, [&](int i) {
    const auto value = from.get(i);
    local_write<kBytes>(w, address[i] + offset, i, &value);
  });
  return true;
}
uint32_t param_bytes(const Warp& w);  // of the running kernel
template <class M, int V>
inline bool load_param_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  if (!check_window(w, inst, address, offset, sizeof(M) * V, param_bytes(w), "parameter load"))
    return false;
  load_by_lane<M, V>(w, inst, [&](int i) { return w.params + uint32_t(address[i] + offset); });
  return true;
}

}  // namespace ridge::vm
