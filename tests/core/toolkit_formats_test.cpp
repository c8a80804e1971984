// Our conversions beside those in the headers of the CUDA toolkit, which run on the host too: every
// pattern, every rounding boundary. NaN may have another pattern there; that it is NaN is compared.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "boundaries.h"
#include "core/number.h"

namespace ridge {
namespace {

struct Case {
  Dtype dtype;
  Conversion how;
  std::function<unsigned(double)> from_double;
  std::function<unsigned(float)> from_float;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const struct {
    Overflow ours;
    __nv_saturation_t theirs;
  } overflows[] = {{Overflow::saturate, __NV_SATFINITE}, {Overflow::to_infinity, __NV_NOSAT}};
  for (const auto overflow : overflows) {
    const auto sat = overflow.theirs;
    const struct {
      Dtype ours;
      __nv_fp8_interpretation_t theirs;
    } fp8[] = {{Dtype::e4m3, __NV_E4M3}, {Dtype::e5m2, __NV_E5M2}};
    for (const auto format : fp8)
      all.push_back({format.ours,
                     {.overflow = overflow.ours},
                     [=](double x) { return __nv_cvt_double_to_fp8(x, sat, format.theirs); },
                     [=](float x) { return __nv_cvt_float_to_fp8(x, sat, format.theirs); }});
    const struct {
      Rounding ours;
      cudaRoundMode theirs;
    } roundings[] = {{Rounding::toward_zero, cudaRoundZero}, {Rounding::up, cudaRoundPosInf}};
    for (const auto rounding : roundings)
      all.push_back({Dtype::ue8m0,
                     {rounding.ours, overflow.ours},
                     [=](double x) { return __nv_cvt_double_to_e8m0(x, sat, rounding.theirs); },
                     [=](float x) { return __nv_cvt_float_to_e8m0(x, sat, rounding.theirs); }});
  }
  const struct {
    Dtype ours;
    __nv_fp6_interpretation_t theirs;
  } fp6[] = {{Dtype::e2m3, __NV_E2M3}, {Dtype::e3m2, __NV_E3M2}};
  const auto nearest = cudaRoundNearest;
  for (const auto format : fp6)
    all.push_back({format.ours,
                   {},
                   [=](double x) { return __nv_cvt_double_to_fp6(x, format.theirs, nearest); },
                   [=](float x) { return __nv_cvt_float_to_fp6(x, format.theirs, nearest); }});
  all.push_back({Dtype::e2m1,
                 {},
                 [=](double x) { return __nv_cvt_double_to_fp4(x, __NV_E2M1, nearest); },
                 [=](float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, nearest); }});
  return all;
}

bool same(Dtype dtype, uint64_t ours, unsigned theirs) {
  return ours == theirs || (std::isnan(decode(dtype, ours)) && std::isnan(decode(dtype, theirs)));
}

TEST(ToolkitFormats, RoundsAsTheToolkitDoes) {
  for (const Case& c : cases()) {
    for (const double x : boundaries<double>(c.dtype))
      ASSERT_TRUE(same(c.dtype, encode(c.dtype, x, c.how), c.from_double(x)))
          << name_of(c.dtype) << " of double " << x << ": " << encode(c.dtype, x, c.how) << " and "
          << c.from_double(x);
    for (const float x : boundaries<float>(c.dtype))
      ASSERT_TRUE(same(c.dtype, encode(c.dtype, double(x), c.how), c.from_float(x)))
          << name_of(c.dtype) << " of float " << x << ": " << encode(c.dtype, double(x), c.how)
          << " and " << c.from_float(x);
  }
}

TEST(ToolkitFormats, ReadsAsTheToolkitDoes) {
  const auto check = [](Dtype dtype, uint64_t bits, uint16_t half) {
    const double ours = decode(dtype, bits), theirs = decode(Dtype::f16, half);
    ASSERT_TRUE(ours == theirs || (std::isnan(ours) && std::isnan(theirs)))
        << name_of(dtype) << " " << bits;
    if (!std::isnan(ours)) {
      ASSERT_EQ(std::signbit(ours), std::signbit(theirs)) << bits;
    }
  };
  for (unsigned bits = 0; bits < 256; ++bits) {
    const auto byte = __nv_fp8_storage_t(bits);
    check(Dtype::e4m3, bits, __nv_cvt_fp8_to_halfraw(byte, __NV_E4M3).x);
    check(Dtype::e5m2, bits, __nv_cvt_fp8_to_halfraw(byte, __NV_E5M2).x);
    const double power = decode(Dtype::bf16, __nv_cvt_e8m0_to_bf16raw(byte).x);
    ASSERT_TRUE(power == decode(Dtype::ue8m0, bits) || (bits == 255 && std::isnan(power))) << bits;
    if (bits < 64) {
      check(Dtype::e2m3, bits, __nv_cvt_fp6_to_halfraw(byte, __NV_E2M3).x);
      check(Dtype::e3m2, bits, __nv_cvt_fp6_to_halfraw(byte, __NV_E3M2).x);
    }
    if (bits < 16) check(Dtype::e2m1, bits, __nv_cvt_fp4_to_halfraw(byte, __NV_E2M1).x);
  }
}

}  // namespace
}  // namespace ridge
