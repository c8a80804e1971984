#include "harness/samples.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace ridge::harness {
namespace {

constexpr int64_t kTiles[] = {16, 32, 64, 128, 256};

class Sampler {
 public:
  Sampler(std::span<const int64_t> shape, uint64_t seed) : shape_(shape), random_(seed) {}

  int64_t corner(unsigned ends) {
    return index([&](size_t d) { return ends >> d & 1 ? shape_[d] - 1 : 0; });
  }
  int64_t anywhere() {
    return index([&](size_t d) { return below(shape_[d]); });
  }
  int64_t on_an_edge() {
    const auto fixed = size_t(below(int64_t(shape_.size())));
    const bool last = below(2) == 1;
    return index([&](size_t d) {
      if (d != fixed) return below(shape_[d]);
      return last ? shape_[d] - 1 : 0;
    });
  }
  // Next to a multiple of a tile's size in one dimension, and in every other as often as not.
  int64_t where_tiles_meet() {
    const auto fixed = size_t(below(int64_t(shape_.size())));
    return index([&](size_t d) {
      if (d != fixed && below(2) == 1) return below(shape_[d]);
      const int64_t tile = kTiles[below(std::size(kTiles))];
      const int64_t at = below(shape_[d] / tile + 1) * tile + below(3) - 1;
      return std::clamp<int64_t>(at, 0, shape_[d] - 1);
    });
  }

 private:
  int64_t below(int64_t size) {
    return std::uniform_int_distribution<int64_t>(0, size - 1)(random_);
  }
  template <class Coordinate>
  int64_t index(Coordinate coordinate) {
    int64_t at = 0;
    for (size_t d = 0; d < shape_.size(); ++d) at = at * shape_[d] + coordinate(d);
    return at;
  }

  std::span<const int64_t> shape_;
  std::mt19937_64 random_;
};

}  // namespace

std::vector<int64_t> sampled_indices(std::span<const int64_t> shape, int64_t most, uint64_t seed) {
  const int64_t elements =
      std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  std::vector<int64_t> indices;
  if (elements <= most) {
    indices.resize(size_t(elements));
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
  }
  Sampler sampler(shape, seed);
  for (unsigned ends = 0; ends < 1u << shape.size(); ++ends)
    indices.push_back(sampler.corner(ends));
  const int64_t part = std::max<int64_t>(most - int64_t(indices.size()), 0) / 3;
  for (int64_t i = 0; i < part; ++i) {
    indices.push_back(sampler.on_an_edge());
    indices.push_back(sampler.where_tiles_meet());
  }
  // Those above often meet: a vector has two ends and no more.
  const auto keep_one_of_each = [&] {
    std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  };
  keep_one_of_each();
  for (int64_t left = most - int64_t(indices.size()); left > 0; --left)
    indices.push_back(sampler.anywhere());
  keep_one_of_each();
  return indices;
}

}  // namespace ridge::harness
