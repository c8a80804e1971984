// Philox4x32-7 (Salmon, Moraes, Dror, Shaw 2011): random numbers as a function of a counter and a
// key, so any thread can compute any of them without a state. Seven rounds are the fewest with
// which the authors passed BigCrush. Ten rounds, which they recommend as a margin, would make
// kernels of two-byte formats 6 % slower on an H200.
#pragma once

#include <cstdint>

namespace ridge {

struct Random4 {
  uint32_t at[4];
};

// A stream, made on the host and passed to a kernel: the keys of the rounds are constants there, so
// that a round is two products and two three-way xors.
class Philox {
 public:
  Philox(uint64_t seed, uint64_t offset) : offset_{uint32_t(offset), uint32_t(offset >> 32)} {
    uint32_t k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
    for (auto& key : keys_) {
      key[0] = k0;
      key[1] = k1;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
  }
  __device__ __forceinline__ Random4 block(uint64_t index) const {
    uint32_t c0 = uint32_t(index), c1 = uint32_t(index >> 32), c2 = offset_[0], c3 = offset_[1];
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      // Not one 64-bit product, of which nvcc makes 64-bit arithmetic to the end.
      const uint32_t low0 = 0xD2511F53u * c0, high0 = __umulhi(0xD2511F53u, c0);
      const uint32_t low1 = 0xCD9E8D57u * c2, high1 = __umulhi(0xCD9E8D57u, c2);
      c0 = high1 ^ c1 ^ keys_[round][0];
      c1 = low1;
      c2 = high0 ^ c3 ^ keys_[round][1];
      c3 = low0;
    }
    return {{c0, c1, c2, c3}};
  }

 private:
  static constexpr int kRounds = 7;
  uint32_t keys_[kRounds][2];
  uint32_t offset_[2];
};

}  // namespace ridge
