#include <array>

#include "kernels/dropout/dropout.h"
#include "ladder/ladder.h"

namespace ridge::dropout {
namespace {

// Philox4x32-7 as its authors publish it: seven times two full products, one key ahead each time.
using Words = std::array<uint32_t, 4>;
constexpr Words philox(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 7; ++round) {
    const uint64_t product0 = uint64_t(counter[0]) * 0xD2511F53u;
    const uint64_t product1 = uint64_t(counter[2]) * 0xCD9E8D57u;
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key0, uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key1, uint32_t(product0)};
    key0 += 0x9E3779B9u;  // golden ratio
    key1 += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return counter;
}
// Known answers.
static_assert(philox({0, 0, 0, 0}, 0, 0) == Words{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff) ==
              Words{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
              Words{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a});

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const Args a = {.p = c.number("probability"),
                  .seed = uint64_t(c.integer("seed")),
                  .offset = uint64_t(c.integer("offset"))};
  for (size_t i = 0; i < t[0].values.size(); ++i) {
    const uint64_t block = i / 4;
    const Words words = philox(
        {uint32_t(block), uint32_t(block >> 32), uint32_t(a.offset), uint32_t(a.offset >> 32)},
        uint32_t(a.seed), uint32_t(a.seed >> 32));
    t[1].values[i] = t[0].values[i] * (words[i % 4] < threshold(a) ? 0.0 : double(scale(a)));
  }
}

}  // namespace ridge::dropout
