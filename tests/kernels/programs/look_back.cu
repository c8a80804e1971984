// The look-back on boards that are filled by hand: prefixes far away and near, tiles that are late,
// values of one, two and three words. The software GPU runs few blocks at a time, so the ladders
// meet little of this there.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "../../vm/cudart/programs/check.h"
#include "ridge/detail/look_back.cuh"

using namespace ridge::detail;

// x -> a x + b does not commute with another, so neighbours that are swapped show. In three sizes.
template <class U>
struct Affine {
  U a, b;
};
template <class U>
struct Then {
  __host__ __device__ Affine<U> identity() const { return {U(1), U(0)}; }
  __host__ __device__ Affine<U> operator()(const Affine<U>& f, const Affine<U>& g) const {
    return {U(g.a * f.a), U(g.a * f.b + g.b)};
  }
};
struct Tagged {
  Affine<uint32_t> map;
  uint32_t count;
};
struct ThenTagged {
  __host__ __device__ Tagged identity() const { return {{1, 0}, 0}; }
  __host__ __device__ Tagged operator()(const Tagged& f, const Tagged& g) const {
    return {Then<uint32_t>()(f.map, g.map), f.count + g.count};
  }
};

template <class U>
Affine<U> random_value(std::mt19937& random, Affine<U>) {
  return {U(random() | 1), U(random())};
}
Tagged random_value(std::mt19937& random, Tagged) {
  return {random_value(random, Affine<uint32_t>()), uint32_t(random())};
}

// Block 0 looks back from `tile`; block 1 publishes what is late, word by word, the last word
// first.
template <int kTilesPerLane, class T, class Op>
__global__ void look(uint64_t* memory, int64_t tile, Op op, const int64_t* places,
                     const uint64_t* words, int late, T* out) {
  if (blockIdx.x == 0) {
    const T prefix = TileBoard<T>(memory).template look_back<kTilesPerLane>(tile, op);
    out[threadIdx.x] = prefix;
  } else if (threadIdx.x == 0) {
    for (int i = 0; i < late; ++i) {
      __nanosleep(200);
      __nv_atomic_store_n(memory + places[i], words[i], __NV_ATOMIC_RELAXED,
                          __NV_THREAD_SCOPE_DEVICE);
    }
  }
}

template <int kTilesPerLane, class T, class Op>
void check(int64_t tile, int64_t nearest_prefix, bool with_late, std::mt19937& random) {
  constexpr int kWords = kWordsPerTile<T>;
  const Op op;
  std::vector<uint64_t> memory(size_t(look_back_bytes<T>(tile + 1)) / 8, 0);
  const auto word_of = [&](TileStatus status, const T& value, int i) {
    uint32_t parts[kWords] = {};
    memcpy(parts, &value, sizeof(T));
    return uint64_t(status) << 32 | parts[i];
  };
  const auto place_of = [&](int64_t t, int i) { return kTicketBytes / 8 + t * kWords + i; };

  T expected = op.identity();
  struct Late {
    int64_t place;
    uint64_t word;
  };
  std::vector<Late> late;
  for (int64_t t = 0; t < tile; ++t) {
    const T value = random_value(random, T());
    // Before the nearest prefix anything may stand, also nothing.
    const TileStatus status = t == nearest_prefix  ? TileStatus::prefix
                              : t > nearest_prefix ? TileStatus::aggregate
                                                   : TileStatus(random() % 3);
    if (status == TileStatus::prefix) expected = value;
    else if (t > nearest_prefix || nearest_prefix < 0) expected = op(expected, value);
    const bool is_late = with_late && t >= nearest_prefix && random() % 3 == 0;
    for (int i = kWords - 1; i >= 0; --i) {
      const uint64_t word = word_of(status, value, i);
      if (is_late) late.push_back({place_of(t, i), word});
      else memory[size_t(place_of(t, i))] = word;
    }
    // A prefix that replaces an aggregate, one word of which is there already.
    if (is_late && status == TileStatus::prefix)
      for (int i = 0; i < kWords; ++i)
        memory[size_t(place_of(t, i))] =
            word_of(i == 0 && kWords > 1 ? TileStatus::aggregate : TileStatus::empty, value, i);
  }

  std::vector<int64_t> places;
  std::vector<uint64_t> words;
  for (const Late& l : late) places.push_back(l.place), words.push_back(l.word);
  uint64_t *device_memory, *device_words;
  int64_t* device_places;
  T* device_out;
  RIDGE_CUDA(cudaMalloc(&device_memory, memory.size() * 8), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&device_places, (places.size() + 1) * 8), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&device_words, (words.size() + 1) * 8), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&device_out, 32 * sizeof(T)), cudaSuccess);
  RIDGE_CUDA(cudaMemcpy(device_memory, memory.data(), memory.size() * 8, cudaMemcpyHostToDevice),
             cudaSuccess);
  RIDGE_CUDA(cudaMemcpy(device_places, places.data(), places.size() * 8, cudaMemcpyHostToDevice),
             cudaSuccess);
  RIDGE_CUDA(cudaMemcpy(device_words, words.data(), words.size() * 8, cudaMemcpyHostToDevice),
             cudaSuccess);
  look<kTilesPerLane><<<2, 32>>>(device_memory, tile, op, device_places, device_words,
                                 int(late.size()), device_out);
  RIDGE_CUDA(cudaGetLastError(), cudaSuccess);
  T out[32];
  RIDGE_CUDA(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess);
  for (const T& lane : out)
    if (memcmp(&lane, &expected, sizeof(T)) != 0) {
      std::printf("wrong at tile %lld, prefix at %lld, %d tiles per lane, %d words, %d late\n",
                  (long long)tile, (long long)nearest_prefix, kTilesPerLane, kWords,
                  int(late.size()));
      ++failures;
      break;
    }
  for (void* p : {static_cast<void*>(device_memory), static_cast<void*>(device_places),
                  static_cast<void*>(device_words), static_cast<void*>(device_out)})
    RIDGE_CUDA(cudaFree(p), cudaSuccess);
}

template <int kTilesPerLane, class T, class Op>
void check_all(std::mt19937& random) {
  for (const int64_t tile : {1, 2, 31, 32, 33, 64, 65, 129, 300})
    for (const int64_t distance : {1, 2, 5, 31, 32, 33, 64, 100, 128, 299})
      for (const bool late : {false, true})
        if (distance <= tile) check<kTilesPerLane, T, Op>(tile, tile - distance, late, random);
  // No prefix anywhere: all the way to the first tile.
  for (const int64_t tile : {1, 33, 200}) check<kTilesPerLane, T, Op>(tile, -1, false, random);
}

int main() {
  std::mt19937 random(1);
  check_all<1, Affine<uint16_t>, Then<uint16_t>>(random);
  check_all<2, Affine<uint32_t>, Then<uint32_t>>(random);
  check_all<4, Tagged, ThenTagged>(random);
  return failures != 0;
}
