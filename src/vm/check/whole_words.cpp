#include "vm/check/whole_words.h"

#include <immintrin.h>

namespace ridge::vm::check {
namespace {

#pragma GCC push_options
#pragma GCC target("avx2")

constexpr int kLanes = 32, kRow = 16;  // rows of threads are often sixteen wide
constexpr long long kWhole = 15ll << 26, kThread = 1023ll << 16;  // Record's bytes and thread
// Of a read; of a write, the same bit says that it is in flight.
constexpr long long kMany = (long long)(Record::kMany) << 30;
static_assert(Record::kMany == Record::kInFlight);

inline __m256i all_of(uint64_t value) { return _mm256_set1_epi64x((long long)(value)); }
inline bool is_all_ones(__m256i v) { return _mm256_movemask_epi8(v) == -1; }
inline __m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline void store(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
// Segments are below 1 << 32, so that signed comparisons do.
inline __m256i segment_of(__m256i records) { return _mm256_srli_epi64(records, 32); }

// Are the addresses of a row of lanes those of neighbouring words of shared memory?
inline bool is_row(const WholeWords& words, const uint32_t* at) {
  const __m256i wanted = _mm256_add_epi32(_mm256_set1_epi32(int(at[0])),
                                          _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
  const __m256i differ = _mm256_or_si256(
      _mm256_xor_si256(load(at), wanted),
      _mm256_xor_si256(load(at + 8), _mm256_add_epi32(wanted, _mm256_set1_epi32(32))));
  return _mm256_testz_si256(differ, differ) &&
         uint64_t(uint32_t(at[0] + words.offset)) + 4 * kRow <= words.size;
}
inline Cell* cells_at(const WholeWords& words, uint32_t at) {
  return words.cells + uint32_t(at + words.offset) / 4;
}

// The records of four lanes, in the order that four cells have when their writes and reads are
// unpacked from two vectors, {write 0, read 0, write 1, read 1} and so on: 0, 2, 1, 3.
inline __m256i records_from(const WholeWords& words, int lane) {
  return _mm256_add_epi64(all_of(words.record + (uint64_t(lane) << 16)),
                          _mm256_setr_epi64x(0, 2ll << 16, 1ll << 16, 3ll << 16));
}

// Four cells. False, and nothing done, where a word was written in this interval, in parts, or
// never. Others: some other thread is known to read the words, too.
template <bool Others>
inline bool read_four(const WholeWords& words, Cell* cells, __m256i mine) {
  const __m256i whole = all_of(kWhole), many = all_of(kMany);
  const __m256i low = load(cells), high = load(cells + 2);
  const __m256i write = _mm256_unpacklo_epi64(low, high), segment = segment_of(write);
  const __m256i written = _mm256_cmpeq_epi64(_mm256_and_si256(write, whole), whole);
  const __m256i ordered = _mm256_andnot_si256(_mm256_cmpgt_epi64(all_of(words.first), segment),
                                              _mm256_cmpgt_epi64(all_of(words.bound), segment));
  if (!is_all_ones(_mm256_and_si256(written, ordered))) return false;
  __m256i others = many;
  if constexpr (!Others) {  // since the barrier, another thread than this one
    const __m256i read = _mm256_unpackhi_epi64(low, high);
    const __m256i differs = _mm256_and_si256(_mm256_xor_si256(read, mine), all_of(kThread | kMany));
    const __m256i alone = _mm256_cmpeq_epi64(differs, _mm256_setzero_si256());
    const __m256i now = _mm256_cmpgt_epi64(segment_of(read), all_of(uint64_t(words.bound) - 1));
    others = _mm256_andnot_si256(alone, _mm256_and_si256(many, now));
  }
  mine = _mm256_or_si256(mine, others);
  store(cells, _mm256_unpacklo_epi64(write, mine));
  store(cells + 2, _mm256_unpackhi_epi64(write, mine));
  return true;
}
// What is older than the barrier, or this thread's own and no copy that is still under way.
inline __m256i are_harmless(const WholeWords& words, __m256i records, __m256i mine) {
  const __m256i differs =
      _mm256_and_si256(_mm256_xor_si256(records, mine), all_of(kThread | kMany));
  return _mm256_or_si256(_mm256_cmpgt_epi64(all_of(words.bound), segment_of(records)),
                         _mm256_cmpeq_epi64(differs, _mm256_setzero_si256()));
}
// False, and nothing done, where another thread has read or written a word in this interval.
inline bool write_four(const WholeWords& words, Cell* cells, __m256i mine) {
  const __m256i low = _mm256_unpacklo_epi64(mine, mine), high = _mm256_unpackhi_epi64(mine, mine);
  const __m256i harmless = _mm256_and_si256(are_harmless(words, load(cells), low),
                                            are_harmless(words, load(cells + 2), high));
  if (!is_all_ones(harmless)) return false;
  const __m256i nobody = _mm256_setzero_si256();
  store(cells, _mm256_unpacklo_epi64(mine, nobody));
  store(cells + 2, _mm256_unpackhi_epi64(mine, nobody));
  return true;
}

template <bool Others>
bool read_row(const WholeWords& words, Cell* cells, int lane) {
  for (int i = 0; i < kRow; i += 4)
    if (!read_four<Others>(words, cells + i, records_from(words, lane + i))) return false;
  return true;
}
bool write_row(const WholeWords& words, Cell* cells, int lane) {
  for (int i = 0; i < kRow; i += 4)
    if (!write_four(words, cells + i, records_from(words, lane + i))) return false;
  return true;
}

bool read_rows(const WholeWords& words, const uint32_t* at) {
  const uint32_t* second = at + kRow;
  if (!is_row(words, at) || !is_row(words, second)) return false;
  // Where both rows read the same words, the second row's records are those that stay.
  if (at[0] == second[0]) return read_row<true>(words, cells_at(words, at[0]), kRow);
  return read_row<false>(words, cells_at(words, at[0]), 0) &&
         read_row<false>(words, cells_at(words, second[0]), kRow);
}
bool write_rows(const WholeWords& words, const uint32_t* at) {
  for (int lane = 0; lane < kLanes; lane += kRow)
    if (!is_row(words, at + lane) || !write_row(words, cells_at(words, at[lane]), lane))
      return false;
  return true;
}

bool read_vector(const WholeWords& words, uint64_t at, uint32_t count, int lane) {
  const __m256i mine = all_of(words.record + (uint64_t(lane) << 16));
  for (uint32_t k = 0; k < count; k += 4)
    if (!read_four<false>(words, words.cells + at / 4 + k, mine)) return false;
  return true;
}
bool write_vector(const WholeWords& words, uint64_t at, uint32_t count, int lane) {
  const __m256i mine = all_of(words.record + (uint64_t(lane) << 16));
  for (uint32_t k = 0; k < count; k += 4)
    if (!write_four(words, words.cells + at / 4 + k, mine)) return false;
  return true;
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

bool read_whole_words(const WholeWords& words, const uint32_t* at) {
  return has_avx2 && read_rows(words, at);
}
bool write_whole_words(const WholeWords& words, const uint32_t* at) {
  return has_avx2 && write_rows(words, at);
}
bool read_whole_vector(const WholeWords& words, uint64_t at, uint32_t count, int lane) {
  return has_avx2 && read_vector(words, at, count, lane);
}
bool write_whole_vector(const WholeWords& words, uint64_t at, uint32_t count, int lane) {
  return has_avx2 && write_vector(words, at, count, lane);
}
uint32_t lanes_between(const uint64_t* at, uint64_t first, uint64_t last) {
  if (has_avx2) return lanes_from_to(at, first, last);
  uint32_t lanes = 0;
  for (int i = 0; i < kLanes; ++i) lanes |= uint32_t(at[i] >= first && at[i] <= last) << i;
  return lanes;
}

}  // namespace ridge::vm::check
