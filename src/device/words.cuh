// Sixteen bytes of elements, kept as four words. As single elements, two-byte formats take a
// register each, and what a thread holds of a row spills.
#pragma once

#include "device/convert_pack.cuh"
#include "device/shifted.cuh"

namespace ridge {

template <class T>
struct Words {
  uint4 words;

  __device__ __forceinline__ uint32_t word(int i) const {
    return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
  }
  __device__ __forceinline__ T operator[](int i) const {
    if constexpr (sizeof(T) == 4) {
      return bytes_as<T>(word(i));
    } else {
      static_assert(sizeof(T) == 2);
      return bytes_as<T>(uint16_t(word(i / 2) >> (i % 2 * 16)));
    }
  }
  __device__ __forceinline__ void set(int i, T value) {
    uint32_t w = word(i * int(sizeof(T)) / 4);
    if constexpr (sizeof(T) == 4) {
      w = bytes_as<uint32_t>(value);
    } else {
      const int shift = i % 2 * 16;
      w = (w & ~(0xffffu << shift)) | uint32_t(bytes_as<uint16_t>(value)) << shift;
    }
    const int at = i * int(sizeof(T)) / 4;
    if (at == 0) words.x = w;
    else if (at == 1) words.y = w;
    else if (at == 2) words.z = w;
    else words.w = w;
  }
};

template <class T>
__device__ __forceinline__ Words<T> filled_with(T value) {
  uint32_t w;
  if constexpr (sizeof(T) == 4) w = bytes_as<uint32_t>(value);
  else w = bytes_as<uint16_t>(value) * 0x10001u;
  return {make_uint4(w, w, w, w)};
}

template <class T>
__device__ __forceinline__ Words<T> words_of(const float (&x)[kPackSize<T>]) {
  return {bytes_as<uint4>(from_floats<T>(x))};
}

template <class T>
__device__ __forceinline__ Words<T> load_words(const T* p) {
  return {*reinterpret_cast<const uint4*>(p)};
}
template <class T>
__device__ __forceinline__ Words<T> load_words_anywhere(const T* p) {
  return {bytes_as<uint4>(load_pack_anywhere(p))};
}
template <class T>
__device__ __forceinline__ void store_words(T* p, const Words<T>& w) {
  *reinterpret_cast<uint4*>(p) = w.words;
}

}  // namespace ridge
