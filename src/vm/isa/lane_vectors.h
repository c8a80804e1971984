// What lanes hold in memory, to registers and back, several lanes at a time with AVX2: each lane's
// 8, 16 or 32 bytes are moved at once, and transposes make one register of each element.
#pragma once

#if defined(__AVX2__)

#include <immintrin.h>

#include "vm/isa/memory.h"

namespace ridge::vm {

inline __m256i load_vector(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
inline bool all_zero(__m256i v) { return _mm256_testz_si256(v, v); }

// All ones in the lanes of `mask` (its low bits): eight lanes of 4 bytes, or four of 8.
template <int Bytes>
inline __m256i lanes_in(uint32_t mask) {
  if constexpr (Bytes == 4) {
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int(mask)), bit), bit);
  } else {
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(int64_t(mask)), bit), bit);
  }
}

// Stores one vector of a register, or those of its lanes that are in `mask`.
template <bool Full, int Bytes>
inline void put_vector(uint8_t* to, __m256 v, uint32_t mask) {
  auto* p = reinterpret_cast<float*>(to);
  if constexpr (Full) _mm256_store_ps(p, v);
  else _mm256_maskstore_ps(p, lanes_in<Bytes>(mask), v);
}

// 16 bytes of one lane below, those of another above.
inline __m256 two_lanes(const uint8_t* low, const uint8_t* high) {
  return _mm256_insertf128_ps(
      _mm256_castps128_ps256(_mm_loadu_ps(reinterpret_cast<const float*>(low))),
      _mm_loadu_ps(reinterpret_cast<const float*>(high)), 1);
}
// 8 bytes of each of four lanes.
inline __m256 four_lanes(const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d) {
  const auto pair = [](const uint8_t* low, const uint8_t* high) {
    return _mm_castpd_ps(_mm_loadh_pd(_mm_load_sd(reinterpret_cast<const double*>(low)),
                                      reinterpret_cast<const double*>(high)));
  };
  return _mm256_insertf128_ps(_mm256_castps128_ps256(pair(a, b)), pair(c, d), 1);
}

// Rows of eight lanes to columns: out[k] holds 4-byte word k of the lanes. at(i) is lane i's row.
template <class At>
inline void transpose8(At at, __m256* out) {
  __m256 r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(at(i)));
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (int h = 0; h < 2; ++h) {
    r[4 * h + 0] = _mm256_shuffle_ps(t[4 * h], t[4 * h + 2], 0x44);
    r[4 * h + 1] = _mm256_shuffle_ps(t[4 * h], t[4 * h + 2], 0xee);
    r[4 * h + 2] = _mm256_shuffle_ps(t[4 * h + 1], t[4 * h + 3], 0x44);
    r[4 * h + 3] = _mm256_shuffle_ps(t[4 * h + 1], t[4 * h + 3], 0xee);
  }
  for (int k = 0; k < 4; ++k) {
    out[k] = _mm256_permute2f128_ps(r[k], r[4 + k], 0x20);
    out[4 + k] = _mm256_permute2f128_ps(r[k], r[4 + k], 0x31);
  }
}
template <class At>
inline void transpose4(At at, __m256* out) {
  __m256 r[4];
  for (int i = 0; i < 4; ++i) r[i] = two_lanes(at(i), at(i + 4));
  const __m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
  const __m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
  out[0] = _mm256_shuffle_ps(a, c, 0x44);
  out[1] = _mm256_shuffle_ps(a, c, 0xee);
  out[2] = _mm256_shuffle_ps(b, d, 0x44);
  out[3] = _mm256_shuffle_ps(b, d, 0xee);
}
template <class At>
inline void transpose2(At at, __m256* out) {
  const __m256 a = four_lanes(at(0), at(1), at(4), at(5));
  const __m256 b = four_lanes(at(2), at(3), at(6), at(7));
  out[0] = _mm256_shuffle_ps(a, b, 0x88);
  out[1] = _mm256_shuffle_ps(a, b, 0xdd);
}

// Loads and stores that go lane by lane otherwise.
template <class M, int V>
inline constexpr bool kHasTranspose = (sizeof(M) == 4 && V > 1) || (sizeof(M) == 8 && V <= 2);

// Lane i's elements are at at(i), which is readable for inactive lanes, too.
template <class M, int V, bool Full, class At>
inline void put_vectors(Warp& w, const Inst* inst, At at) {
  static_assert(kHasTranspose<M, V>);
  uint8_t* d[V];
  for (int k = 0; k < V; ++k) d[k] = w.reg<uint8_t>(data_register(inst, k));
  constexpr int kLanes = 32 / sizeof(M);
  for (int first = 0; first < kWarpSize; first += kLanes) {
    const auto row = [&](int i) { return at(first + i); };
    __m256 out[V];
    if constexpr (sizeof(M) == 4 && V == 4) {
      transpose4(row, out);
    } else if constexpr (sizeof(M) == 4) {
      transpose2(row, out);
    } else if constexpr (V == 2) {
      const __m256d a = _mm256_castps_pd(two_lanes(row(0), row(2)));
      const __m256d b = _mm256_castps_pd(two_lanes(row(1), row(3)));
      out[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
      out[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
    } else {
      out[0] = four_lanes(row(0), row(1), row(2), row(3));
    }
    for (int k = 0; k < V; ++k)
      put_vector<Full, sizeof(M)>(d[k] + first * sizeof(M), out[k], w.mask >> first);
  }
}

// Stores the elements of all lanes, in the order of each_active_storing: lane i's to to(i).
template <class M, int V, class To>
inline void take_vectors(const Warp& w, const Inst* inst, To to) {
  static_assert(kHasTranspose<M, V>);
  constexpr int kBytes = sizeof(M) * V;
  const uint8_t* s[V];  // looked up once: a store might change anything, the compiler thinks
  for (int k = 0; k < V; ++k) s[k] = w.src<uint8_t>(data_register(inst, k));
  const auto register_at = [&](int k, int lane) {
    return _mm256_load_ps(reinterpret_cast<const float*>(s[k] + lane * int(sizeof(M))));
  };
  const auto store_halves = [&](const __m256* rows, int first, int count) {
    const auto put = [&](int lane, __m128 v) {
      _mm_storeu_ps(reinterpret_cast<float*>(to(lane)), v);
    };
    for (int i = count; i-- > 0;) put(first + count + i, _mm256_extractf128_ps(rows[i], 1));
    for (int i = count; i-- > 0;) put(first + i, _mm256_castps256_ps128(rows[i]));
  };
  if constexpr (kBytes == 16 && sizeof(M) == 4) {
    for (int first = 0; first < kWarpSize; first += 8) {
      const __m256 x = register_at(0, first), y = register_at(1, first);
      const __m256 z = register_at(2, first), u = register_at(3, first);
      const __m256 a = _mm256_unpacklo_ps(x, y), b = _mm256_unpackhi_ps(x, y);
      const __m256 c = _mm256_unpacklo_ps(z, u), d = _mm256_unpackhi_ps(z, u);
      const __m256 rows[4] = {_mm256_shuffle_ps(a, c, 0x44), _mm256_shuffle_ps(a, c, 0xee),
                              _mm256_shuffle_ps(b, d, 0x44), _mm256_shuffle_ps(b, d, 0xee)};
      store_halves(rows, first, 4);
    }
  } else if constexpr (kBytes == 16) {
    for (int group = 0; group < kWarpSize; group += 8)
      for (int first = group + 4; first >= group; first -= 4) {
        const __m256d x = _mm256_castps_pd(register_at(0, first));
        const __m256d y = _mm256_castps_pd(register_at(1, first));
        const __m256 rows[2] = {_mm256_castpd_ps(_mm256_unpacklo_pd(x, y)),
                                _mm256_castpd_ps(_mm256_unpackhi_pd(x, y))};
        store_halves(rows, first, 2);
      }
  } else if constexpr (V == 2) {
    for (int half = 0; half < kWarpSize; half += 16)
      for (int first = half + 8; first >= half; first -= 8) {
        const __m256 x = register_at(0, first), y = register_at(1, first);
        const __m256 pairs[2] = {_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y)};
        for (int quarter = 3; quarter >= 0; --quarter) {  // 0 1, 2 3, 4 5, 6 7
          const __m256 v = pairs[quarter % 2];
          const __m128d two =
              _mm_castps_pd(quarter < 2 ? _mm256_castps256_ps128(v) : _mm256_extractf128_ps(v, 1));
          const int lane = first + 2 * quarter;
          _mm_storeh_pd(reinterpret_cast<double*>(to(lane + 1)), two);
          _mm_storel_pd(reinterpret_cast<double*>(to(lane)), two);
        }
      }
  } else {
    for (int half = 0; half < kWarpSize; half += 16)
      for (int i = half + 15; i >= half; --i) std::memcpy(to(i), s[0] + 8 * i, 8);
  }
}

// --- shared memory ---

// The lanes' offsets in shared memory, if all active ones are aligned and inside. Inactive lanes
// get a place behind its end (Block::shared has room there), so that they may be moved, too.
struct SharedOffsets {
  alignas(32) uint32_t of[kWarpSize];
  __m256i group(int g) const { return load_vector(of + 8 * g); }
};
template <bool Full>
[[gnu::always_inline]] inline bool shared_offsets(const Warp& w, const uint32_t* address,
                                                  int32_t offset, uint32_t bytes, uint32_t align,
                                                  SharedOffsets& at) {
  if (w.shared_size < bytes) return false;
  const __m256i limit = _mm256_set1_epi32(int(w.shared_size - bytes));
  const __m256i idle = _mm256_set1_epi32(int((w.shared_size + 15) / 16 * 16));
  const __m256i shift = _mm256_set1_epi32(offset);
  const __m256i low_bits = _mm256_set1_epi32(int(align - 1));
  __m256i bad = _mm256_setzero_si256();
  for (int g = 0; g < 4; ++g) {
    __m256i lanes = _mm256_add_epi32(load_vector(address + 8 * g), shift);
    // Not equal to the minimum with the limit: outside.
    __m256i wrong = _mm256_or_si256(_mm256_and_si256(lanes, low_bits),
                                    _mm256_xor_si256(_mm256_min_epu32(lanes, limit), lanes));
    if constexpr (!Full) {
      const __m256i active = lanes_in<4>(w.mask >> (8 * g));
      wrong = _mm256_and_si256(wrong, active);
      lanes = _mm256_blendv_epi8(idle, lanes, active);
    }
    bad = _mm256_or_si256(bad, wrong);
    _mm256_store_si256(reinterpret_cast<__m256i*>(at.of) + g, lanes);
  }
  // The compiler would rather take each offset out of its vector than read it from memory, which
  // costs it two shuffles.
  asm("" : "+m"(at));
  return all_zero(bad);
}

// N neighbouring words of each lane, N = 1, 2, 4 or 8. Groups of eight lanes that read one place
// need no transposes.
template <int N, bool Full>
inline void load_shared_words(Warp& w, const Inst* inst, const SharedOffsets& at) {
  uint8_t* d[N];
  for (int k = 0; k < N; ++k) d[k] = w.reg<uint8_t>(data_register(inst, k));
  const auto put = [&](int k, int g, __m256 v) {
    put_vector<Full, 4>(d[k] + 32 * g, v, w.mask >> (8 * g));
  };
  const __m256i linear = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
  const uint8_t* const shared = w.shared;
  __m256 out[N];
  for (int g = 0; g < 4; ++g) {
    const __m256i offsets = at.group(g);
    // Two halves of a warp often read the same words (a row of threads sixteen wide).
    if (Full && N > 1 && g >= 2 && all_zero(_mm256_xor_si256(offsets, at.group(g - 2)))) {
      for (int k = 0; k < N; ++k)
        put(k, g, _mm256_load_ps(reinterpret_cast<const float*>(d[k] + 32 * (g - 2))));
      continue;
    }
    const uint32_t start = at.of[8 * g];
    const __m256i delta = _mm256_sub_epi32(offsets, _mm256_set1_epi32(int(start)));
    const auto* words = reinterpret_cast<const float*>(shared + start);
    if (all_zero(delta)) {
      for (int k = 0; k < N; ++k) out[k] = _mm256_broadcast_ss(words + k);
    } else if constexpr (N == 1) {
      if (all_zero(_mm256_xor_si256(delta, linear))) out[0] = _mm256_loadu_ps(words);
      else out[0] = _mm256_i32gather_ps(reinterpret_cast<const float*>(shared), offsets, 1);
    } else {
      const auto row = [&](int i) { return shared + at.of[8 * g + i]; };
      if constexpr (N == 8) transpose8(row, out);
      else if constexpr (N == 4) transpose4(row, out);
      else transpose2(row, out);
    }
    for (int k = 0; k < N; ++k) put(k, g, out[k]);
  }
}

// Stores of 32 neighbouring words; false when they are anything else.
inline bool store_shared_row(Warp& w, const Inst* inst, const uint32_t* address, int32_t offset) {
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
  if (!all_zero(differ)) return false;
  std::memcpy(w.shared + first, w.src<uint32_t>(inst->d), 4 * kWarpSize);
  return true;
}

}  // namespace ridge::vm

#endif
