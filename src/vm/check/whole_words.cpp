#include "vm/check/whole_words.h"

#include <immintrin.h>

namespace ridge::vm::check {
namespace {

#pragma GCC push_options
#pragma GCC target("avx2")

constexpr int kLanes = 32, kRow = 16;  // rows of threads are often sixteen wide
constexpr long long kWhole = 15ll << 26, kThread = 1023ll << 16;  // Record's bytes and thread
constexpr long long kMany = (long long)(Record::kMany) << 30;

inline __m256i all_of(uint64_t value) { return _mm256_set1_epi64x((long long)(value)); }
inline bool is_all_ones(__m256i v) { return _mm256_movemask_epi8(v) == -1; }
inline __m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline void store(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
// Segments are below 1 << 32, so that signed comparisons do.
inline __m256i segment_of(__m256i records) { return _mm256_srli_epi64(records, 32); }

// Are the addresses of a row of lanes those of neighbouring words of shared memory?
inline bool is_row(const WholeWords& words, const uint64_t* at) {
  __m256i wanted = _mm256_add_epi64(all_of(at[0]), _mm256_setr_epi64x(0, 4, 8, 12));
  __m256i same = _mm256_set1_epi64x(-1);
  for (int i = 0; i < kRow; i += 4) {
    same = _mm256_and_si256(same, _mm256_cmpeq_epi64(load(at + i), wanted));
    wanted = _mm256_add_epi64(wanted, _mm256_set1_epi64x(16));
  }
  return is_all_ones(same) && at[0] + 4 * kRow <= words.size;
}

// The records of four lanes, in the order that four cells have when their writes and reads are
// unpacked from two vectors, {write 0, read 0, write 1, read 1} and so on: 0, 2, 1, 3.
inline __m256i records_from(const WholeWords& words, int lane) {
  return _mm256_add_epi64(all_of(words.record + (uint64_t(lane) << 16)),
                          _mm256_setr_epi64x(0, 2ll << 16, 1ll << 16, 3ll << 16));
}

// False where a word was written in this interval, in parts, or never. Others: some thread is known
// to read the words, too.
template <bool Others>
bool read_row(const WholeWords& words, uint64_t at, int lane) {
  const __m256i first = all_of(words.first), bound = all_of(words.bound);
  const __m256i before_bound = all_of(uint64_t(words.bound) - 1);
  const __m256i whole = all_of(kWhole), many = all_of(kMany), differ = all_of(kThread | kMany);
  __m256i mine = records_from(words, lane);
  Cell* cells = words.cells + at / 4;
  for (Cell* const end = cells + kRow; cells < end; cells += 4) {
    const __m256i low = load(cells), high = load(cells + 2);
    const __m256i write = _mm256_unpacklo_epi64(low, high), segment = segment_of(write);
    const __m256i written = _mm256_cmpeq_epi64(_mm256_and_si256(write, whole), whole);
    const __m256i ordered =
        _mm256_andnot_si256(_mm256_cmpgt_epi64(first, segment), _mm256_cmpgt_epi64(bound, segment));
    if (!is_all_ones(_mm256_and_si256(written, ordered))) return false;
    __m256i others = many;
    if constexpr (!Others) {  // since the barrier, another thread than this one
      const __m256i read = _mm256_unpackhi_epi64(low, high);
      const __m256i alone = _mm256_cmpeq_epi64(
          _mm256_and_si256(_mm256_xor_si256(read, mine), differ), _mm256_setzero_si256());
      others = _mm256_andnot_si256(
          alone, _mm256_and_si256(many, _mm256_cmpgt_epi64(segment_of(read), before_bound)));
    }
    const __m256i now = _mm256_or_si256(mine, others);
    store(cells, _mm256_unpacklo_epi64(write, now));
    store(cells + 2, _mm256_unpackhi_epi64(write, now));
    mine = _mm256_add_epi64(mine, _mm256_set1_epi64x(4ll << 16));
  }
  return true;
}

int read_rows(const WholeWords& words, const uint64_t* at) {
  if (!is_row(words, at)) return 0;
  if (!is_row(words, at + kRow)) return read_row<false>(words, at[0], 0) ? kRow : 0;
  // Both rows read the same words: the second row's records are those that stay.
  if (at[0] == at[kRow]) return read_row<true>(words, at[0], kRow) ? kLanes : 0;
  if (!read_row<false>(words, at[0], 0)) return 0;
  return read_row<false>(words, at[kRow], kRow) ? kLanes : kRow;
}

// False where a word was read or written in this interval.
bool write_row(const WholeWords& words, uint64_t at, int lane) {
  const __m256i bound = all_of(words.bound), nobody = _mm256_setzero_si256();
  __m256i mine = records_from(words, lane);
  Cell* cells = words.cells + at / 4;
  for (Cell* const end = cells + kRow; cells < end; cells += 4) {
    const __m256i ordered =
        _mm256_and_si256(_mm256_cmpgt_epi64(bound, segment_of(load(cells))),
                         _mm256_cmpgt_epi64(bound, segment_of(load(cells + 2))));
    if (!is_all_ones(ordered)) return false;
    store(cells, _mm256_unpacklo_epi64(mine, nobody));
    store(cells + 2, _mm256_unpackhi_epi64(mine, nobody));
    mine = _mm256_add_epi64(mine, _mm256_set1_epi64x(4ll << 16));
  }
  return true;
}

int write_rows(const WholeWords& words, const uint64_t* at) {
  for (int lane = 0; lane < kLanes; lane += kRow)
    if (!is_row(words, at + lane) || !write_row(words, at[lane], lane)) return lane;
  return kLanes;
}

uint32_t lanes_from_to(const uint64_t* at, uint64_t first, uint64_t last) {
  uint32_t lanes = 0;
  for (int i = 0; i < kLanes; i += 4) {
    const __m256i outside = _mm256_or_si256(_mm256_cmpgt_epi64(all_of(first), load(at + i)),
                                            _mm256_cmpgt_epi64(load(at + i), all_of(last)));
    lanes |= uint32_t(~_mm256_movemask_pd(_mm256_castsi256_pd(outside)) & 15) << i;
  }
  return lanes;
}

#pragma GCC pop_options

const bool has_avx2 = __builtin_cpu_supports("avx2");

}  // namespace

int read_whole_words(const WholeWords& words, const uint64_t* at) {
  return has_avx2 ? read_rows(words, at) : 0;
}
int write_whole_words(const WholeWords& words, const uint64_t* at) {
  return has_avx2 ? write_rows(words, at) : 0;
}
uint32_t lanes_between(const uint64_t* at, uint64_t first, uint64_t last) {
  if (has_avx2) return lanes_from_to(at, first, last);
  uint32_t lanes = 0;
  for (int i = 0; i < kLanes; ++i) lanes |= uint32_t(at[i] >= first && at[i] <= last) << i;
  return lanes;
}

}  // namespace ridge::vm::check
