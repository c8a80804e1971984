// token_sampling rung 01, one_by_one: the most probable token, the next one, and so on.
//
// Stops at: reading the row once for each token that is kept: a hundred reads for a hundred tokens.
// Not for: flat distributions, of which thousands of tokens are kept.
#include "kernels/token_sampling/row.cuh"

namespace ridge::token_sampling::one_by_one {

struct OneByOne {
  template <class T>
  __device__ void start(const Row<T>&, int64_t) const {}
  // The most probable token after `key`. By the whole block.
  template <class T>
  __device__ Key next(const Row<T>& row, Key key) const {
    __shared__ Key partials[kWarps];
    Key best = 0;
    row.each([&](Key other) { best = other < key ? max(best, other) : best; });
    return block_max(best, partials);
  }
  template <class T>
  __device__ Key last_by_count(const Row<T>& row, Key first, int64_t count) const {
    for (; count > 1; --count) first = next(row, first);
    return first;
  }
  template <class T>
  __device__ Key last_by_weight(const Row<T>& row, Key first, Key last, Weight share) const {
    Weight weight = row.weight(first);
    for (; weight < share && first > last; weight += row.weight(first)) first = next(row, first);
    return first;
  }
};

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return launch_rows(a, OneByOne(), stream);
}
constinit const Rung rung = {.idea = "the most probable token, then the next, until it is enough",
                             .supports = takes_floats,
                             .launch = launch,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::token_sampling::one_by_one
