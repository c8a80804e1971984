// Loads and stores of one space, as templates over the value in memory (M), the vector length (V)
// and the mask.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "vm/isa/memory.h"

namespace ridge::vm {

// --- scattering loaded elements into registers ---

template <class M, int V>
inline void put_lane(Warp& w, const Inst* inst, int lane, const Elements<M, V>& value) {
  for (int k = 0; k < V; ++k) w.reg<RegisterOf<M>>(data_register(inst, k))[lane] = value.e[k];
}
template <class M, int V>
inline Elements<M, V> get_lane(const Warp& w, const Inst* inst, int lane) {
  Elements<M, V> value;
  for (int k = 0; k < V; ++k) value.e[k] = M(w.src<RegisterOf<M>>(data_register(inst, k))[lane]);
  return value;
}

// Lane i's elements lie at p + i * sizeof(Elements): the coalesced case.
template <class M, int V>
inline void load_contiguous(Warp& w, const Inst* inst, const uint8_t* p) {
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
  each_active(w.mask,
              [&](int i) { put_lane<M, V>(w, inst, i, load_as<Elements<M, V>>(places[i])); });
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
  each_active_storing<kBytes>(w.mask, [&](int i) {
    const auto value = get_lane<M, V>(w, inst, i);
    std::memcpy(places[i], &value, sizeof value);
  });
  return true;
}

// --- shared ---

#if defined(__AVX2__)
// The hot case of tiled kernels: 4-byte loads, eight lanes at a time; a group of lanes that reads
// one word or eight neighbouring words needs no gather.
inline bool load_shared_words(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  const __m256i limit = _mm256_set1_epi32(int(w.shared_size - 4));
  const __m256i shift = _mm256_set1_epi32(offset);
  const __m256i linear = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
  __m256i at[4], bad = _mm256_setzero_si256();
  if (w.shared_size < 4) return false;
  for (int g = 0; g < 4; ++g) {
    at[g] =
        _mm256_add_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(address) + g), shift);
    // Bits 0 and 1 set: misaligned. Not equal to the minimum with the limit: outside.
    bad = _mm256_or_si256(bad, _mm256_slli_epi32(at[g], 30));
    bad = _mm256_or_si256(bad, _mm256_xor_si256(_mm256_min_epu32(at[g], limit), at[g]));
  }
  if (!_mm256_testz_si256(bad, bad)) return false;
  auto* d = w.reg<__m256i>(inst->d);
  const int* words = reinterpret_cast<const int*>(w.shared);
  for (int g = 0; g < 4; ++g) {
    const __m256i first = _mm256_broadcastd_epi32(_mm256_castsi256_si128(at[g]));
    const __m256i delta = _mm256_sub_epi32(at[g], first);
    const uint32_t start = uint32_t(_mm_cvtsi128_si32(_mm256_castsi256_si128(at[g])));
    const __m256i unit = _mm256_xor_si256(delta, linear);
    if (_mm256_testz_si256(delta, delta)) {
      _mm256_store_si256(d + g, _mm256_set1_epi32(load_as<int>(w.shared + start)));
    } else if (_mm256_testz_si256(unit, unit)) {
      _mm256_store_si256(d + g,
                         _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w.shared + start)));
    } else {
      _mm256_store_si256(d + g, _mm256_i32gather_epi32(words, at[g], 1));
    }
  }
  return true;
}

// Stores of 32 neighbouring words; false when they are anything else.
inline bool store_shared_words(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  const uint32_t first = address[0] + uint32_t(offset);
  if (first % 4 || uint64_t(first) + 4 * kWarpSize > w.shared_size) return false;
  const __m256i linear = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
  __m256i differ = _mm256_setzero_si256();
  for (int g = 0; g < 4; ++g) {
    const __m256i expected =
        _mm256_add_epi32(linear, _mm256_set1_epi32(int(address[0] + 32 * uint32_t(g))));
    differ = _mm256_or_si256(
        differ, _mm256_xor_si256(expected,
                                 _mm256_load_si256(reinterpret_cast<const __m256i*>(address) + g)));
  }
  if (!_mm256_testz_si256(differ, differ)) return false;
  std::memcpy(w.shared + first, w.src<uint32_t>(inst->d), 4 * kWarpSize);
  return true;
}
#endif

template <class M, int V, bool Full>
inline bool load_shared_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
#if defined(__AVX2__)
  if constexpr (Full && V == 1 && sizeof(M) == 4)
    if (load_shared_words(w, inst, address, offset)) return true;
#endif
  if (!check_window(w, inst, address, offset, sizeof(M) * V, w.shared_size, "shared load"))
    return false;
  const auto lane = [&](int i) {
    put_lane<M, V>(w, inst, i, load_as<Elements<M, V>>(w.shared + uint32_t(address[i] + offset)));
  };
  if constexpr (Full)
    for (int i = 0; i < kWarpSize; ++i) lane(i);
  else each_active(w.mask, lane);
  return true;
}

template <class M, int V, bool Full>
inline bool store_shared_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
#if defined(__AVX2__)
  if constexpr (Full && V == 1 && sizeof(M) == 4)
    if (store_shared_words(w, inst, address, offset)) return true;
#endif
  if (!check_window(w, inst, address, offset, sizeof(M) * V, w.shared_size, "shared store"))
    return false;
  const auto lane = [&](int i) {
    const auto value = get_lane<M, V>(w, inst, i);
    std::memcpy(w.shared + uint32_t(address[i] + offset), &value, sizeof value);
  };
  each_active_storing<sizeof(M) * V>(w.mask, lane);
  return true;
}

// --- local and kernel parameters ---

template <class M, int V>
inline bool load_local_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  constexpr int kBytes = sizeof(M) * V;
  if (!check_window(w, inst, address, offset, kBytes, w.local_size, "local load")) return false;
  each_active(w.mask, [&](int i) {
    Elements<M, V> value;
    local_read<kBytes>(w, address[i] + offset, i, &value);
    put_lane<M, V>(w, inst, i, value);
  });
  return true;
}
template <class M, int V>
inline bool store_local_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  constexpr int kBytes = sizeof(M) * V;
  if (!check_window(w, inst, address, offset, kBytes, w.local_size, "local store")) return false;
  each_active(w.mask, [&](int i) {
    const auto value = get_lane<M, V>(w, inst, i);
    local_write<kBytes>(w, address[i] + offset, i, &value);
  });
  return true;
}
uint32_t param_bytes(const Warp& w);  // of the running kernel
template <class M, int V>
inline bool load_param_at(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
  if (!check_window(w, inst, address, offset, sizeof(M) * V, param_bytes(w), "parameter load"))
    return false;
  each_active(w.mask, [&](int i) {
    put_lane<M, V>(w, inst, i, load_as<Elements<M, V>>(w.params + uint32_t(address[i] + offset)));
  });
  return true;
}

}  // namespace ridge::vm
