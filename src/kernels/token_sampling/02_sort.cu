// token_sampling rung 02, sort: one sort of the row, then one walk down its tokens.
//
// Since 01_one_by_one: the row is sorted once (device/bitonic.cuh, in the workspace), and the next
//   token is the next element, however many there are.
// Stops at: the sort, of log2(n)^2 / 2 passes over the row; one thread walks.
// Not for: long rows: all that is wanted is one element of the order, not the whole order (03).
#include "device/bitonic.cuh"
#include "kernels/token_sampling/row.cuh"

namespace ridge::token_sampling::sort {

struct Sort {
  Key* workspace;  // (rows, room)
  int room;        // keys of a row, a power of two

  __device__ Key* keys() const { return workspace + int64_t(blockIdx.x) * room; }
  template <class T>
  __device__ void start(const Row<T>& row, int64_t) const {
    row.each([&](Key key) { keys()[~uint32_t(key)] = key; });
    block_sort(keys(), int(row.cols));
  }
  template <class T>
  __device__ Key last_by_count(const Row<T>&, Key, int64_t count) const {
    return keys()[count - 1];
  }
  template <class T>
  __device__ Key last_by_weight(const Row<T>& row, Key, Key last, Weight share) const {
    __shared__ Key found;
    if (threadIdx.x == 0) {
      Weight weight = 0;
      int i = 0;
      do weight += row.weight(keys()[i]);
      while (weight < share && keys()[i] > last && ++i < row.cols);
      found = keys()[min(int64_t(i), row.cols - 1)];
    }
    __syncthreads();
    return found;
  }
};

static int room_of(const Args& a) { return power_of_two_from(int(a.cols)); }
static size_t workspace(const Args& a, const DeviceInfo&) {
  return size_t(a.rows) * size_t(room_of(a)) * sizeof(Key);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return launch_rows(a, Sort{static_cast<Key*>(a.workspace), room_of(a)}, stream);
}
constinit const Rung rung = {.idea = "one sort, then one walk down the tokens",
                             .supports = takes_floats,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::token_sampling::sort
