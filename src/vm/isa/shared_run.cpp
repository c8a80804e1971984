// Runs of neighbouring shared words, merged by the decoder (src/vm/exec/merge.cpp): eight lanes at
// a time, each lane's words loaded as one vector, then transposed into the destination registers.
#include "vm/isa/internal.h"
#include "vm/isa/load_store.h"

namespace ridge::vm::internal {
namespace {

template <int N>
bool run_masked(Warp& w, const Inst* inst) {
  const uint32_t* address = w.src<uint32_t>(inst->a);
  const int32_t offset = int32_t(inst->b);
  for (uint32_t k = 0, order = wide(inst).flags; k < N; ++k, order >>= 4)
    if (!check_window(w, inst, address, offset + 4 * int32_t(order & 15), 4, w.shared_size,
                      "shared load"))
      return false;
  each_active(w.mask, [&](int i) {
    const uint8_t* p = w.shared + uint32_t(address[i] + uint32_t(offset));
    for (int k = 0; k < N; ++k)
      w.reg<uint32_t>(data_register(inst, k))[i] = load_as<uint32_t>(p + 4 * k);
  });
  return true;
}

#if defined(__AVX2__)
// Rows of eight lanes' words to columns: out[k] holds word k of the eight lanes.
inline void transpose8(const uint8_t* const* p, __m256* out) {
  __m256 r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(p[i]));
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
inline void transpose4(const uint8_t* const* p, __m256* out) {
  __m256 r[4];
  for (int i = 0; i < 4; ++i)
    r[i] = _mm256_insertf128_ps(
        _mm256_castps128_ps256(_mm_loadu_ps(reinterpret_cast<const float*>(p[i]))),
        _mm_loadu_ps(reinterpret_cast<const float*>(p[i + 4])), 1);
  const __m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
  const __m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
  out[0] = _mm256_shuffle_ps(a, c, 0x44);
  out[1] = _mm256_shuffle_ps(a, c, 0xee);
  out[2] = _mm256_shuffle_ps(b, d, 0x44);
  out[3] = _mm256_shuffle_ps(b, d, 0xee);
}

template <int N>
const Inst* run_full(Warp& w, const Inst* inst) {
  const auto* address = w.src<__m256i>(inst->a);
  const __m256i shift = _mm256_set1_epi32(int32_t(inst->b));
  alignas(32) uint32_t at[kWarpSize];
  __m256i v[4], bad = _mm256_setzero_si256();
  const __m256i limit = _mm256_set1_epi32(int(w.shared_size - 4 * N));
  for (int g = 0; g < 4; ++g) {
    v[g] = _mm256_add_epi32(_mm256_load_si256(address + g), shift);
    bad = _mm256_or_si256(bad, _mm256_slli_epi32(v[g], 30));
    bad = _mm256_or_si256(bad, _mm256_xor_si256(_mm256_min_epu32(v[g], limit), v[g]));
    _mm256_store_si256(reinterpret_cast<__m256i*>(at) + g, v[g]);
  }
  if (w.shared_size < 4 * N || !_mm256_testz_si256(bad, bad))
    return run_masked<N>(w, inst) ? inst + 2 : nullptr;
  __m256* d[N];
  for (int k = 0; k < N; ++k) d[k] = w.reg<__m256>(data_register(inst, k));
  for (int g = 0; g < 4; ++g) {
    // Two halves of a warp often read the same words (a row of threads sixteen wide).
    if (g >= 2) {
      const __m256i same = _mm256_xor_si256(v[g], v[g - 2]);
      if (_mm256_testz_si256(same, same)) {
        for (int k = 0; k < N; ++k) d[k][g] = d[k][g - 2];
        continue;
      }
    }
    const uint32_t* lane = at + 8 * g;
    const __m256i delta = _mm256_sub_epi32(v[g], _mm256_set1_epi32(int(lane[0])));
    if (_mm256_testz_si256(delta, delta)) {
      const auto* p = reinterpret_cast<const float*>(w.shared + lane[0]);
      for (int k = 0; k < N; ++k) d[k][g] = _mm256_broadcast_ss(p + k);
      continue;
    }
    __m256 out[8];
    if constexpr (N == 2) {
      const auto* words = reinterpret_cast<const int*>(w.shared);
      for (int k = 0; k < 2; ++k)
        out[k] = _mm256_castsi256_ps(
            _mm256_i32gather_epi32(words, _mm256_add_epi32(v[g], _mm256_set1_epi32(4 * k)), 1));
    } else {
      const uint8_t* p[8];
      for (int i = 0; i < 8; ++i) p[i] = w.shared + lane[i];
      if constexpr (N == 8) transpose8(p, out);
      else transpose4(p, out);
    }
    for (int k = 0; k < N; ++k) d[k][g] = out[k];
  }
  return inst + 2;
}
#else
template <int N>
const Inst* run_full(Warp& w, const Inst* inst) {
  return run_masked<N>(w, inst) ? inst + 2 : nullptr;
}
#endif

template <int N>
const Inst* run_partial(Warp& w, const Inst* inst) {
  return run_masked<N>(w, inst) ? inst + 2 : nullptr;
}

}  // namespace

Handlers load_shared_run(int words, uint32_t order) {
  switch (words) {
    case 2: return {run_full<2>, run_partial<2>, true, order};
    case 4: return {run_full<4>, run_partial<4>, true, order};
    default: return {run_full<8>, run_partial<8>, true, order};
  }
}

}  // namespace ridge::vm::internal
