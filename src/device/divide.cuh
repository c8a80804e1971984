// Division by a number that the host knows. If all numbers that are divided are under 2^31, a
// product and a shift replace the division, which would take twenty instructions (seventy with 64
// bits).
#pragma once

#include <cstdint>

namespace ridge {

class Divider {
 public:
  Divider() = default;
  // `limit`: larger than every number that will be divided. 1 <= divisor < 2^31.
  explicit Divider(int64_t divisor, int64_t limit) : divisor_(divisor) {
    if (limit > int64_t(1) << 31 || divisor >= int64_t(1) << 31) return;
    while (int64_t(1) << shift_ < divisor) ++shift_;  // ceil(log2)
    // ceil(2^(31 + shift) / divisor): off by under 1 in 2^31, so under 2^31 the quotient is right.
    multiplier_ =
        uint32_t(((uint64_t(1) << (31 + shift_)) + uint64_t(divisor) - 1) / uint64_t(divisor));
  }
  __device__ __forceinline__ int64_t quotient(int64_t n) const {
    if (multiplier_ == 0) return n < divisor_ ? 0 : n / divisor_;
    return __umulhi(uint32_t(n) << 1, multiplier_) >> shift_;
  }
  __host__ __device__ int64_t divisor() const { return divisor_; }

 private:
  int64_t divisor_ = 1;
  uint32_t multiplier_ = 0;  // none: divide
  uint32_t shift_ = 0;
};

}  // namespace ridge
