// Packs: sixteen bytes per lane, the widest access that there is, and the one that fills the memory
// system.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ridge::detail {

constexpr int kPackBytes = 16;

template <class T, int N = kPackBytes / int(sizeof(T)),
          bool IsSmall = (sizeof(T) < 4 && sizeof(T) * N % 4 == 0)>
struct alignas(sizeof(T) * N) Pack {
  T at[N];
  __device__ __forceinline__ T& operator[](int i) { return at[i]; }
  __device__ __forceinline__ const T& operator[](int i) const { return at[i]; }
};

// Elements of one or two bytes are kept as words: one by one they take a register each, and what a
// thread has under way spills.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack<T, N, true> {
  static constexpr int kInWord = 4 / int(sizeof(T));
  static constexpr uint32_t kMask = (1u << 8 * sizeof(T)) - 1;
  uint32_t words[N / kInWord];

  struct Place {
    uint32_t& word;
    int shift;
    __device__ __forceinline__ operator T() const { return element(word >> shift); }
    __device__ __forceinline__ void operator=(T value) {
      word = (word & ~(kMask << shift)) | bits(value) << shift;
    }
    __device__ __forceinline__ void operator=(const Place& other) { *this = T(other); }
  };
  __device__ __forceinline__ Place operator[](int i) {
    return {words[i / kInWord], i % kInWord * int(8 * sizeof(T))};
  }
  __device__ __forceinline__ T operator[](int i) const {
    return element(words[i / kInWord] >> i % kInWord * int(8 * sizeof(T)));
  }

 private:
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>;
  static __device__ __forceinline__ T element(uint32_t word) {
    const Bits low = Bits(word);
    return *reinterpret_cast<const T*>(&low);
  }
  static __device__ __forceinline__ uint32_t bits(const T& value) {
    return *reinterpret_cast<const Bits*>(&value);
  }
};
template <class T>
constexpr int kPackSize = kPackBytes / int(sizeof(T));

__host__ __device__ inline bool is_pack_aligned(const void* p) {
  return reinterpret_cast<uintptr_t>(p) % kPackBytes == 0;
}

// Elements before the first that starts a pack.
template <class T>
__host__ __device__ inline int elements_to_alignment(const T* p) {
  return int((kPackBytes - reinterpret_cast<uintptr_t>(p) % kPackBytes) % kPackBytes / sizeof(T));
}

// Plain accesses. On an H200 evict-first and L1::no_allocate loads cost a tenth of the bandwidth of
// a stream, even one that is read once (an f32 sum of two vectors: 3.9 instead of 4.4 TB/s); and
// one pack per thread in a grid as large as the array does better than several packs, or than a
// grid that fits the device and strides (4.2 TB/s).
template <class T>
__device__ __forceinline__ Pack<T> load_pack(const T* p) {
  return *reinterpret_cast<const Pack<T>*>(p);
}
// By an intrinsic: from a plain assignment the compiler sometimes makes one store per element,
// which
// costs half of the bandwidth.
template <class T>
__device__ __forceinline__ void store_pack(T* p, const Pack<T>& pack) {
  __stwb(reinterpret_cast<uint4*>(p), *reinterpret_cast<const uint4*>(&pack));
}

// A pack that starts at any element: five aligned words, shifted together. Reads up to three bytes
// on either side of the pack, so it must not be the first or last of its array.
template <class T>
__device__ __forceinline__ Pack<T> load_pack_anywhere(const T* p) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(p);
  const uint32_t* words = reinterpret_cast<const uint32_t*>(address & ~uintptr_t(3));
  const uint32_t shift = uint32_t(address & 3) * 8;
  uint32_t w[5] = {__ldg(words), __ldg(words + 1), __ldg(words + 2), __ldg(words + 3), 0};
  if (shift) w[4] = __ldg(words + 4);
  Pack<uint32_t> shifted;
#pragma unroll
  for (int i = 0; i < 4; ++i) shifted[i] = __funnelshift_r(w[i], w[i + 1], shift);
  return *reinterpret_cast<const Pack<T>*>(&shifted);
}

}  // namespace ridge::detail
