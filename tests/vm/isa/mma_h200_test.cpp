// mma, mma.sp and wmma.mma of every shape and type on random registers, against hashes of what an
// H200 made of the same registers: bit for bit, with infinities, NaNs and subnormals in every sixth
// round.
//
// mma_h200.inc holds one row per spelling. A row's place in it seeds its registers, so rows are
// only ever added at the end.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "../hopper/probe/values.h"
#include "core/mix.h"
#include "run_fragments.h"

namespace ridge::vm::test {
namespace {

struct Recorded {
  const char* spelling;
  int selector;           // of a sparse A's metadata; -1: dense
  const char *a, *b, *c;  // kinds of elements
  uint64_t hash;
};
const Recorded kRecorded[] = {
#include "mma_h200.inc"
};
constexpr int kRounds = 96;

using Random = std::mt19937_64;

// x in a narrower format, cut off; what is too small is zero, what is too large the largest.
uint64_t narrowed(float x, int mantissa, int exponent_bits) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  const int bias = (1 << (exponent_bits - 1)) - 1, most = (1 << exponent_bits) - 2;
  const int e = int(u >> 23 & 255) - 127 + bias;
  const uint32_t sign = u >> 31 << (mantissa + exponent_bits);
  if (e <= 0) return sign;
  return sign | uint32_t(std::min(e, most)) << mantissa | (u & 0x7fffff) >> (23 - mantissa);
}

int bits_of_kind(const std::string& k) {
  if (k == "f64") return 64;
  if (k == "f32" || k == "tf32" || k == "s32") return 32;
  if (k == "f16" || k == "bf16") return 16;
  if (k == "b1") return 1;
  return k == "s4" || k == "u4" ? 4 : 8;
}

// round % 6 says how wild: 0 and 1: [-1, 1); 2: exponents of +-4; 3: +-12; 4: many zeros and
// nearly equal exponents; 5: any bits.
uint64_t element(const std::string& kind, Random& random, int round) {
  const uint64_t any = random();
  const int bits = bits_of_kind(kind), mode = round % 6;
  if (kind[0] == 's' || kind[0] == 'u' || kind == "b1" || mode == 5)
    return bits == 64 ? any : any & ((1ull << bits) - 1);
  double x = double(int64_t(random()) >> 11) * 0x1p-52;
  const int range = mode < 2 ? 0 : mode == 2 ? 4 : mode == 3 ? 12 : 1;
  if (range) x = std::ldexp(x, int(random() % uint64_t(2 * range + 1)) - range);
  if (mode == 4 && any % 3 == 0) x = 0;
  uint64_t u = 0;
  if (kind == "f64") std::memcpy(&u, &x, 8);
  const auto f = float(x);
  if (bits == 32) std::memcpy(&u, &f, 4);
  if (kind == "f16") return narrowed(f, 10, 5);
  if (kind == "bf16") return narrowed(f, 7, 8);
  if (kind == "e4m3") return narrowed(f * 16, 3, 4);
  if (kind == "e5m2") return narrowed(f * 16, 2, 5);
  return u;
}
uint64_t word_of(const std::string& kind, Random& random, int round) {
  const int bits = bits_of_kind(kind);
  uint64_t word = 0;
  for (int e = 0; e < (bits == 64 ? 1 : 32 / bits); ++e)
    word |= element(kind, random, round) << (bits * e);
  return word;
}
// Metadata that PTX allows: two different places of four, the lower one first.
uint64_t metadata(const std::string& kind, Random& random) {
  static constexpr int kPairs[] = {4, 8, 9, 12, 13, 14};
  uint64_t word = 0;
  for (int q = 0; q < 8; ++q) {
    const uint64_t any = random();
    word |= uint64_t(kind == "tf32" ? (any & 1 ? 14 : 4) : kPairs[any % 6]) << (4 * q);
  }
  return word;
}

uint64_t hash_of(const Recorded& row, Random random) {
  std::string error;
  const Match* match = find_instruction(row.spelling, &error);
  if (!match) {
    ADD_FAILURE() << row.spelling << ": " << error;
    return 0;
  }
  const auto& counts = match->handlers.fragments;
  const bool wide = std::string(row.a) == "f64", sparse = row.selector >= 0;
  uint64_t hash = kFnvStart;
  for (int round = 0; round < kRounds; ++round) {
    Registers d(counts[0], wide), a(counts[1], wide), b(counts[2], wide), c(counts[3], wide);
    Registers e(1, false);
    const auto fill = [&](Registers& registers, const char* kind) {
      for (size_t i = 0; i < registers.size(); ++i)
        for (uint64_t& word : registers[i])
          word = kind ? word_of(kind, random, round) : metadata(row.a, random);
    };
    fill(a, row.a);
    fill(b, row.b);
    fill(c, row.c);
    if (sparse) fill(e, nullptr);
    if (sparse) run(row.spelling, d, {&a, &b, &c, &e}, {uint32_t(row.selector)});
    else run(row.spelling, d, {&a, &b, &c});
    for (size_t i = 0; i < d.size(); ++i)
      for (const uint64_t word : d[i]) hash = fnv1a(hash, word);
  }
  return hash;
}

TEST(MmaH200, RandomRegistersGiveTheSameBits) {
  for (size_t i = 0; i < std::size(kRecorded); ++i)
    EXPECT_EQ(hash_of(kRecorded[i], Random(i * 7919 + 1)), kRecorded[i].hash)
        << kRecorded[i].spelling << " " << kRecorded[i].selector;
}

// Products and sums near the smallest f32, where exponents have a least one and where a result of
// zero is never -0. The inputs are those of `run_mma` in tests/vm/hopper/probe/misc_record.cu, the
// hashes are in records/misc.txt there.
TEST(MmaH200, TinyNumbersGiveTheSameBits) {
  struct {
    const char* spelling;
    hopper::Kind kind;
    uint64_t seed, hash;
  } const rows[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", hopper::Kind::bf16, 0,
       0xd79c2408000717fc},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", hopper::Kind::tf32, 1000,
       0x03fc18321cf95089},
  };
  for (const auto& row : rows) {
    std::vector<uint32_t> output;
    for (uint64_t round = 0; round < 64; ++round) {
      hopper::Stream stream(row.seed + round);
      Registers d(4, false), a(4, false), b(2, false), c(4, false);
      const auto fill = [&](Registers& registers, hopper::Kind kind, hopper::Role role) {
        uint32_t words[32];
        for (size_t i = 0; i < registers.size(); ++i) {
          hopper::fill(reinterpret_cast<uint8_t*>(words), sizeof words, kind, role, hopper::kUnder,
                       stream);
          std::copy(std::begin(words), std::end(words), registers[i].begin());
        }
      };
      fill(a, row.kind, hopper::Role::factor);
      fill(b, row.kind, hopper::Role::factor);
      fill(c, hopper::Kind::f32, hopper::Role::addend);
      run(row.spelling, d, {&a, &b, &c});
      for (size_t i = 0; i < 4; ++i) output.insert(output.end(), d[i].begin(), d[i].end());
    }
    EXPECT_EQ(hopper::hash_bytes(output.data(), output.size() * 4), row.hash) << row.spelling;
  }
}

}  // namespace
}  // namespace ridge::vm::test
