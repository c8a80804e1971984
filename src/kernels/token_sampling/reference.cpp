#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/token_sampling/token_sampling.h"
#include "ladder/ladder.h"

namespace ridge::token_sampling {
namespace {

// Philox4x32-7, as dropout's reference has it beside its known answers.
uint32_t philox_word(uint64_t block, uint64_t offset, uint64_t seed, size_t word) {
  std::array<uint32_t, 4> at = {uint32_t(block), uint32_t(block >> 32), uint32_t(offset),
                                uint32_t(offset >> 32)};
  uint32_t key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
  for (int round = 0; round < 7; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
    const uint64_t low = uint64_t(at[0]) * 0xD2511F53u, high = uint64_t(at[2]) * 0xCD9E8D57u;
    at = {uint32_t(high >> 32) ^ at[1] ^ key0, uint32_t(high), uint32_t(low >> 32) ^ at[3] ^ key1,
          uint32_t(low)};
  }
  return at[word];
}

int32_t token_of(const Case& c, const double* x, size_t cols, size_t row) {
  const bool has_nan = std::any_of(x, x + cols, [](double v) { return std::isnan(v); });
  std::vector<size_t> order(cols);
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return x[i] > x[j]; });
  const double max = x[order[0]], temperature = c.number("temperature");
  if (has_nan || !std::isfinite(max)) return -1;
  if (temperature == 0) return int32_t(order[0]);
  const auto scaled = [&](size_t i) { return (x[i] - max) / temperature; };
  const auto weight = [&](size_t i) { return std::exp(scaled(i)); };
  size_t kept = cols;
  if (c.integer("top_k") > 0) kept = std::min(kept, size_t(c.integer("top_k")));
  if (c.number("top_p") < 1) {
    double total = 0, before = 0;
    for (size_t i = 0; i < kept; ++i) total += weight(order[i]);
    size_t n = 1;
    for (; n < kept; ++n) {
      before += weight(order[n - 1]);
      // What f32 does not see must not decide.
      if (float(before) >= float(c.number("top_p") * total)) break;
    }
    kept = n;
  }
  double best = -INFINITY;
  size_t token = order[0];
  for (size_t i = 0; i < kept; ++i) {
    const size_t column = order[i];
    if (weight(column) < c.number("min_p")) continue;
    const uint32_t word =
        philox_word(row * ((cols + 3) / 4) + column / 4, uint64_t(c.integer("offset")),
                    uint64_t(c.integer("seed")), column % 4);
    const double uniform = std::fmin(std::fmaf(float(word), 0x1p-32f, 0x1p-33f), 1 - 0x1p-24f);
    const double score = scaled(column) - std::log(-std::log1p(-uniform));
    if (score > best || (score == best && column < token)) {
      best = score;
      token = column;
    }
  }
  return int32_t(token);
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const auto cols = size_t(c.size("cols"));
  for (size_t r = 0; r < t[1].values.size(); ++r)
    t[1].values[r] = token_of(c, t[0].values.data() + r * cols, cols, r);
}

}  // namespace ridge::token_sampling
