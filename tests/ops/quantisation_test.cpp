// Quantising by the public functions: bytes worked out by hand, and what is refused. Every rung and
// format against the definition: the test kernels.quantisation.
#include <cmath>

#include "device_array.h"
#include "ridge/operators.h"

namespace ridge {
namespace {

// `call` with the workspace that it asks for.
template <class Call>
Status with_workspace(Call call) {
  std::size_t bytes = 0;
  if (const Status asked = call(Workspace::ask(bytes)); !asked) return asked;
  const DeviceArray<unsigned char> memory(std::vector<unsigned char>(bytes + 16, 0xff));
  return call(Workspace{memory.data(), bytes});
}

// OCP MX: amax 15, so the scale is 2^(3 - 2) = 2. 7.5 is clamped to 6 (0111); 5 lies halfway and
// goes to 4 (0110); 0.5 is 0001; 0.2 goes to 0; -3.5 to -4 (1110); 1.5 is 0011; -0.3 to -0.5
// (1001).
TEST(Quantisation, Mxfp4) {
  std::vector<float> values(32);
  const float first[] = {15, 10, 1, 0.4f, -7, 3, -0.6f};
  std::copy(std::begin(first), std::end(first), values.begin());
  const DeviceArray<float> x(values), back(32);
  const DeviceArray<unsigned char> q(16), scale(1);
  const Tensor tx(x.data(), Dtype::f32, {1, 32}), tq(q.data(), Dtype::e2m1, {1, 32}),
      ts(scale.data(), Dtype::ue8m0, {1, 1}), ty(back.data(), Dtype::f32, {1, 32});
  ASSERT_TRUE(with_workspace([&](Workspace w) { return quantise_mxfp4(tx, tq, ts, w); }));
  EXPECT_EQ(scale.values(), std::vector<unsigned char>{128});
  std::vector<unsigned char> wanted(16, 0);
  wanted[0] = 0x67, wanted[1] = 0x01, wanted[2] = 0x3e, wanted[3] = 0x09;
  EXPECT_EQ(q.values(), wanted);
  ASSERT_TRUE(with_workspace([&](Workspace w) { return dequantise_mxfp4(tq, ts, ty, w); }));
  std::vector<float> read(32, 0.0f);
  const float numbers[] = {12, 8, 1, 0, -8, 3, -1};
  std::copy(std::begin(numbers), std::end(numbers), read.begin());
  EXPECT_EQ(back.values(), read);
}

// The scale of the tensor is 2688 / 2688 = 1, that of the block 1.5, which is 0x3c as ue4m3.
TEST(Quantisation, Nvfp4) {
  std::vector<float> values(32);
  values[0] = 2688, values[16] = 9, values[17] = 4.5f, values[18] = -1;
  const DeviceArray<float> x(values), tensor_scale(1), one(std::vector<float>(32, 1.0f)), y(1);
  const DeviceArray<unsigned char> q(16), scales(2);
  const Tensor tx(x.data(), Dtype::f32, {1, 32}), tq(q.data(), Dtype::e2m1, {1, 32}),
      ts(scales.data(), Dtype::ue4m3, {1, 2}), tt(tensor_scale.data(), Dtype::f32, {1});
  ASSERT_TRUE(
      with_workspace([&](Workspace w) { return quantise_nvfp4(tx, tq, ts, tt, false, w); }));
  EXPECT_EQ(tensor_scale.values(), std::vector<float>{1});
  EXPECT_EQ(scales.values(), (std::vector<unsigned char>{0x7e, 0x3c}));
  EXPECT_EQ(q.values()[0], 0x07);
  EXPECT_EQ(q.values()[8], 0x57);  // 6, 3
  EXPECT_EQ(q.values()[9], 0x09);  // -2/3 goes to -0.5
  const Tensor ones(one.data(), Dtype::f32, {32}), ty(y.data(), Dtype::f32, {1});
  ASSERT_TRUE(with_workspace([&](Workspace w) { return gemv_nvfp4(ones, tq, ts, tt, ty, w); }));
  EXPECT_EQ(y.values(), std::vector<float>{2688 + 9 + 4.5f - 0.75f});
}

// 63.5 goes to the even 64, 31.75 to 32.
TEST(Quantisation, Int8Rows) {
  const DeviceArray<float> x(std::vector<float>{-127, 2.5f, 3.5f, 0.5f, 1, -0.25f}), scales(2);
  const DeviceArray<signed char> q(6);
  ASSERT_TRUE(with_workspace([&](Workspace w) {
    return quantise_int8_rows({x.data(), Dtype::f32, {2, 3}}, {q.data(), Dtype::i8, {2, 3}},
                              {scales.data(), Dtype::f32, {2}}, w);
  }));
  EXPECT_EQ(q.values(), (std::vector<signed char>{-127, 2, 4, 64, 127, -32}));
  EXPECT_EQ(scales.values(), (std::vector<float>{1, 1 / 127.0f}));
}

TEST(Quantisation, WhatIsRefused) {
  char memory[4096];
  const Tensor x(memory, Dtype::f32, {2, 5}), q(memory + 1024, Dtype::nf4, {2, 5}),
      absmax(memory + 2048, Dtype::f32, {2, 1});
  EXPECT_EQ(quantise_nf4(x, q, absmax).message(),
            "quantise_nf4: q has 5 columns, but two elements share a byte, so rows need an even "
            "number of them; add a column of zeros");
  const Tensor x6(memory, Dtype::f32, {2, 6}), q6(memory + 1024, Dtype::nf4, {2, 6}),
      scales(memory + 2048, Dtype::e4m3, {2, 1}), groups(memory + 2560, Dtype::f32, {3}),
      mean(memory + 3072, Dtype::f32, {1});
  EXPECT_EQ(
      quantise_nf4_double(x6, q6, scales, groups, mean).message(),
      "quantise_nf4_double: group_scales has 3 elements; it has to have 1, one per 256 of the 2 "
      "scales");
  const Tensor q8(memory + 1024, Dtype::i8, {2, 6});
  EXPECT_NE(quantise_nf4(x6, q8, absmax).message().find("q is i8"), std::string::npos);
  EXPECT_NE(quantise_mxfp4(x6, {memory + 1024, Dtype::e2m1, {2, 6}},
                           {memory + 2048, Dtype::ue8m0, {2, 2}})
                .message()
                .find("scales is"),
            std::string::npos);
}

}  // namespace
}  // namespace ridge
