// The conversions of device/low_precision.cuh beside those of the host: every pattern, every number
// at which rounding changes, one by one and in packs. Built for Hopper as well, where the
// instruction cvt is a third opinion on fp8.
#include "device/low_precision_pack.cuh"

#include <cuda_fp8.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "../../core/boundaries.h"
#include "../../vm/cudart/programs/check.h"
#include "core/number.cpp"  // not linked, so that the program is one source

using namespace ridge;

constexpr int kThreads = 256;

// Memory on both sides. The device writes what the host then reads.
template <class T>
struct Shared {
  T* data = nullptr;
  size_t count;
  explicit Shared(size_t n) : count(n) {
    RIDGE_CUDA(cudaMallocManaged(&data, n * sizeof(T)), cudaSuccess);
    std::memset(static_cast<void*>(data), 0xa5, n * sizeof(T));
  }
  explicit Shared(const std::vector<T>& values) : Shared(values.size()) {
    std::memcpy(static_cast<void*>(data), values.data(), values.size() * sizeof(T));
  }
  ~Shared() { cudaFree(data); }
  Shared(const Shared&) = delete;
  T& operator[](size_t i) { return data[i]; }
};

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), size_t threads, Arguments... arguments) {
  kernel<<<unsigned((threads + kThreads - 1) / kThreads), kThreads>>>(arguments...);
  RIDGE_CUDA(cudaGetLastError(), cudaSuccess);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
}

template <class T>
constexpr Dtype kDtypeOf = std::is_same_v<T, float>    ? Dtype::f32
                           : std::is_same_v<T, __half> ? Dtype::f16
                                                       : Dtype::bf16;

// The first difference of a check is printed, and all are counted.
struct Difference {
  const char* what;
  Dtype dtype;
  int64_t count = 0;
  ~Difference() {
    if (count == 0) return;
    std::printf("%s: %s: %lld differ\n", name_of(dtype), what, (long long)count);
    ++failures;
  }
  void compare(double from, uint64_t got, uint64_t expected) {
    if (got == expected) return;
    if (count++ == 0)
      std::printf("%s: %s of %.17g: %llx, not %llx\n", name_of(dtype), what, from,
                  (unsigned long long)got, (unsigned long long)expected);
  }
};

template <class T>
uint64_t bits_in(const T& value) {
  return load_bits(kDtypeOf<T>, &value, 0);
}
template <class T>
double value_of(const T& value) {
  return load(kDtypeOf<T>, &value, 0);
}
// What widening should give: NaN has the pattern of all ones.
template <class T>
uint64_t widened(Dtype dtype, uint64_t bits) {
  return encode(kDtypeOf<T>, decode(dtype, bits));
}

template <class T>
std::vector<T> inputs(Dtype dtype) {
  std::vector<T> numbers;
  if constexpr (std::is_same_v<T, float>) {
    numbers = boundaries<float>(dtype);
    std::mt19937 random(3);
    for (int i = 0; i < 4000; ++i) {
      const auto bits = uint32_t(random());
      numbers.emplace_back();
      std::memcpy(&numbers.back(), &bits, 4);
    }
  } else {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto pattern = uint16_t(bits);
      numbers.emplace_back();
      std::memcpy(static_cast<void*>(&numbers.back()), &pattern, 2);
    }
  }
  while (numbers.size() % 8 != 0) numbers.push_back(numbers.front());
  return numbers;
}

// Eight numbers per thread: one by one, by twos, fours and eights.
template <Dtype D, class T>
__global__ void narrow_all(const T* in, uint32_t* one, uint64_t* two, uint64_t* four,
                           uint64_t* eight, int packs) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= packs) return;
  T x[8];
  for (int k = 0; k < 8; ++k) {
    x[k] = in[8 * i + k];
    one[8 * i + k] = narrow<D>(x[k]);
  }
  for (int k = 0; k < 4; ++k) {
    const T pair[2] = {x[2 * k], x[2 * k + 1]};
    two[4 * i + k] = narrow_pack<D>(pair);
  }
  for (int k = 0; k < 2; ++k) {
    const T quad[4] = {x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]};
    four[2 * i + k] = narrow_pack<D>(quad);
  }
  eight[i] = narrow_pack<D>(x);
}

// `count` numbers of format D side by side in a word.
uint64_t packed_word(Dtype dtype, const uint64_t* bits, int count) {
  uint64_t word = 0;
  for (int k = 0; k < count; ++k) word |= bits[k] << k * bits_of(dtype);
  return word;
}

template <Dtype D, class T>
void check_narrow() {
  const std::vector<T> numbers = inputs<T>(D);
  const size_t n = numbers.size();
  Shared<T> in(numbers);
  Shared<uint32_t> one(n);
  Shared<uint64_t> two(n / 2), four(n / 4), eight(n / 8);
  launch(narrow_all<D, T>, n / 8, in.data, one.data, two.data, four.data, eight.data, int(n / 8));
  std::vector<uint64_t> expected;
  for (const T& x : numbers) expected.push_back(encode(D, value_of(x)));
  Difference singles{"narrow", D}, twos{"narrow_pack of 2", D}, fours{"narrow_pack of 4", D},
      eights{"narrow_pack of 8", D};
  for (size_t i = 0; i < n; ++i) singles.compare(value_of(numbers[i]), one[i], expected[i]);
  const auto packs = [&](Difference& difference, Shared<uint64_t>& words, size_t size) {
    for (size_t i = 0; i < n; i += size)
      difference.compare(value_of(numbers[i]), words[i / size],
                         packed_word(D, &expected[i], int(size)));
  };
  packs(twos, two, 2);
  packs(fours, four, 4);
  packs(eights, eight, 8);
}

// The other ways to round and to overflow; six results for each number.
constexpr Rounding kRoundings[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::up};
template <Dtype D>
__global__ void narrow_ways(const float* in, uint32_t* out, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float x = in[i];
  uint32_t* to = out + 6 * i;
  to[0] = narrow<D, Rounding::nearest_even, Overflow::saturate>(x);
  to[1] = narrow<D, Rounding::toward_zero, Overflow::saturate>(x);
  to[2] = narrow<D, Rounding::up, Overflow::saturate>(x);
  to[3] = narrow<D, Rounding::nearest_even, Overflow::to_infinity>(x);
  to[4] = narrow<D, Rounding::toward_zero, Overflow::to_infinity>(x);
  to[5] = narrow<D, Rounding::up, Overflow::to_infinity>(x);
}
template <Dtype D>
void check_ways() {
  const std::vector<float> numbers = inputs<float>(D);
  Shared<float> in(numbers);
  Shared<uint32_t> out(6 * numbers.size());
  launch(narrow_ways<D>, numbers.size(), in.data, out.data, int(numbers.size()));
  for (int way = 0; way < 6; ++way) {
    const Conversion how = {kRoundings[way % 3],
                            way < 3 ? Overflow::saturate : Overflow::to_infinity};
    Difference difference{way % 3 == 0 ? "narrow" : way % 3 == 1 ? "narrow, cut" : "narrow, up", D};
    for (size_t i = 0; i < numbers.size(); ++i)
      difference.compare(double(numbers[i]), out[6 * i + size_t(way)],
                         encode(D, double(numbers[i]), how));
  }
}

// Every pattern alone, and words of patterns at random. The sign bit of ue4m3 may be set.
template <Dtype D, class T>
__global__ void widen_all(const uint64_t* words, T* one, T* two, T* four, T* eight, int packs) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= packs) return;
  const uint64_t word = words[i];
  constexpr int kSize = low_precision::kBits<D>;
  T numbers[8];
  widen_pack<D>(PackedWord<D, 8>(word), numbers);
  for (int k = 0; k < 8; ++k) {
    eight[8 * i + k] = numbers[k];
    one[8 * i + k] = widen<D, T>(uint32_t(word >> k * kSize) & low_precision::mask_of(kSize));
  }
  for (int k = 0; k < 8; k += 4) {
    T quad[4];
    widen_pack<D>(PackedWord<D, 4>(word >> k * kSize), quad);
    for (int j = 0; j < 4; ++j) four[8 * i + k + j] = quad[j];
  }
  for (int k = 0; k < 8; k += 2) {
    T pair[2];
    widen_pack<D>(PackedWord<D, 2>(word >> k * kSize), pair);
    for (int j = 0; j < 2; ++j) two[8 * i + k + j] = pair[j];
  }
}
template <Dtype D, class T>
void check_widen() {
  std::mt19937_64 random(5);
  const int size = bits_of(D);
  std::vector<uint64_t> words;
  for (uint64_t pattern = 0; pattern < uint64_t(1) << size; pattern += 8) {
    uint64_t bits[8];
    for (uint64_t k = 0; k < 8; ++k) bits[k] = pattern + k;
    words.push_back(packed_word(D, bits, 8));
  }
  for (int i = 0; i < 500; ++i)
    words.push_back(size == 8 ? random() : random() & ((uint64_t(1) << 8 * size) - 1));
  const size_t n = words.size();
  Shared<uint64_t> in(words);
  Shared<T> one(8 * n), two(8 * n), four(8 * n), eight(8 * n);
  launch(widen_all<D, T>, n, in.data, one.data, two.data, four.data, eight.data, int(n));
  Difference singles{"widen", D}, twos{"widen_pack of 2", D}, fours{"widen_pack of 4", D},
      eights{"widen_pack of 8", D};
  for (size_t i = 0; i < 8 * n; ++i) {
    const uint64_t pattern = words[i / 8] >> (i % 8 * size_t(size)) & ((uint64_t(1) << size) - 1);
    const uint64_t expected = widened<T>(D, pattern);
    const auto from = double(pattern);
    singles.compare(from, bits_in(one[i]), expected);
    twos.compare(from, bits_in(two[i]), expected);
    fours.compare(from, bits_in(four[i]), expected);
    eights.compare(from, bits_in(eight[i]), expected);
  }
}

template <Dtype D>
__global__ void load_all(const uint8_t* array, uint32_t* out, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = load_bits<D>(array, i);
}
// In an array of exactly as many bytes as it takes, so that a read past its end is an error.
template <Dtype D>
void check_load() {
  for (const int n : {1, 2, 3, 4, 5, 101}) {
    Shared<uint8_t> array(bytes_for(D, n));
    Shared<uint32_t> out{size_t(n)};
    for (int i = 0; i < n; ++i) store_bits(D, array.data, i, uint64_t(i * 37));
    launch(load_all<D>, size_t(n), array.data, out.data, n);
    Difference difference{"load_bits", D};
    for (int i = 0; i < n; ++i) difference.compare(i, out[size_t(i)], load_bits(D, array.data, i));
  }
}

#ifdef RIDGE_HAS_FP8_CVT  // from compute capability 8.9 on the toolkit's function is cvt
template <__nv_fp8_interpretation_t kFormat>
__global__ void cvt_all(const float* in, uint32_t* out, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = __nv_cvt_float_to_fp8(in[i], __NV_SATFINITE, kFormat);
}
template <__nv_fp8_interpretation_t kFormat>
__global__ void cvt_back(uint16_t* halves) {  // one for each of the 256 patterns
  halves[threadIdx.x] = __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t(threadIdx.x), kFormat).x;
}
template <Dtype D, __nv_fp8_interpretation_t kFormat>
void check_cvt() {
  const std::vector<float> numbers = inputs<float>(D);
  Shared<float> in(numbers);
  Shared<uint32_t> out(numbers.size());
  launch(cvt_all<kFormat>, numbers.size(), in.data, out.data, int(numbers.size()));
  Difference difference{"cvt", D};
  for (size_t i = 0; i < numbers.size(); ++i)
    difference.compare(double(numbers[i]), out[i], encode(D, double(numbers[i])));
  Shared<uint16_t> halves(256);
  launch(cvt_back<kFormat>, 256, halves.data);
  Difference back{"cvt to f16", D};
  for (size_t bits = 0; bits < 256; ++bits)
    back.compare(double(bits), halves[bits], widened<__half>(D, bits));
}
#endif

template <Dtype D>
void check_format() {
  check_narrow<D, float>();
  check_narrow<D, __half>();
  check_narrow<D, __nv_bfloat16>();
  if constexpr (is_floating(D)) check_ways<D>();
  check_widen<D, float>();
  check_widen<D, __half>();
  check_widen<D, __nv_bfloat16>();
  check_load<D>();
}

int main() {
  check_format<Dtype::i8>();
  check_format<Dtype::i4>();
  check_format<Dtype::u4>();
  check_format<Dtype::e4m3>();
  check_format<Dtype::e5m2>();
  check_format<Dtype::e2m1>();
  check_format<Dtype::e2m3>();
  check_format<Dtype::e3m2>();
  check_format<Dtype::ue8m0>();
  check_format<Dtype::ue4m3>();
  check_format<Dtype::nf4>();
#ifdef RIDGE_HAS_FP8_CVT
  check_cvt<Dtype::e4m3, __NV_E4M3>();
  check_cvt<Dtype::e5m2, __NV_E5M2>();
#endif
  std::printf(failures ? "%d failed\n" : "all conversions agree\n", failures);
  return failures ? 1 : 0;
}
