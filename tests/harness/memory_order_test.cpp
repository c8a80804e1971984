#include "harness/memory_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/number.h"
#include "fake_ladder.h"
#include "harness/inputs.h"

namespace ridge::harness {
namespace {

struct Strided {
  std::vector<int64_t> shape, strides;
};
const Strided kStrided[] = {
    {{}, {}},
    {{1}, {1}},
    {{1000}, {1}},
    {{1000}, {3}},
    {{37, 29}, {29, 1}},
    {{37, 29}, {32, 1}},            // gaps between rows
    {{37, 29}, {1, 37}},            // transposed
    {{37, 29}, {1, 40}},            // and with gaps
    {{5, 7, 11}, {77, 1, 7}},       // the last two transposed
    {{5, 7, 11}, {7 * 13, 13, 1}},  // rows of one stride
    {{3, 1, 200, 1}, {200, 1, 1, 1}},
    {{4, 0}, {1, 1}},
};

Workload workload_of(const Strided& strided, Dtype dtype) {
  TensorSpec spec = {
      .name = "x", .dtype = dtype, .shape = strided.shape, .strides = strided.strides};
  spec.span = count(spec.shape) > 0;
  for (size_t d = 0; d < spec.shape.size() && spec.span > 0; ++d)
    spec.span += (spec.shape[d] - 1) * spec.strides[d];
  return {.tensors = {spec}, .cost = {}};
}

std::vector<char> by_parts(const Elements& inputs, int64_t elements) {
  std::vector<char> memory(size_t(bytes_of(inputs.spec(0))), char(0));
  size_t expected = 0;
  EXPECT_TRUE(each_part(inputs, 0, elements, [&](int64_t at, std::span<const char> bytes) {
    EXPECT_EQ(size_t(at), expected);  // no byte twice, none left out
    expected += bytes.size();
    std::copy(bytes.begin(), bytes.end(), memory.begin() + at);
    return Status::ok();
  }));
  EXPECT_EQ(expected, memory.size());
  return memory;
}

TEST(MemoryOrder, PartsOfAnInputAreTheWholeOne) {
  const FakeLadder ladder;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::u8})
    for (const Strided& strided : kStrided) {
      const Workload w = workload_of(strided, dtype);
      const TensorSpec& spec = w.tensors.front();
      const MadeInputs made(ladder, {.seed = 9}, w);
      std::vector<char> wanted(size_t(bytes_of(spec)), char(0xff));
      for (int64_t i = 0; i < count(spec.shape); ++i)
        store(dtype, wanted.data(), offset_of(spec, i), made.at(0, i));
      for (const int64_t elements : {1, 7, 29, 300, 1 << 20})
        ASSERT_EQ(by_parts(made, elements), wanted)
            << shape_text(spec.shape) << " in parts of " << elements;
    }
}

TEST(MemoryOrder, AnErrorEndsIt) {
  const FakeLadder ladder;
  const Workload w = workload_of({{100}, {1}}, Dtype::f32);
  const MadeInputs made(ladder, {.seed = 9}, w);
  int parts = 0;
  const Status status = each_part(made, 0, 10, [&](int64_t, std::span<const char>) {
    return ++parts == 3 ? Status(Error{1, "full"}) : Status::ok();
  });
  EXPECT_EQ(status.message(), "full");
  EXPECT_EQ(parts, 3);
}

TEST(Results, AreReadByIndexAndKnowTheirGaps) {
  const FakeLadder ladder;
  for (const Strided& strided : kStrided) {
    const Workload w = workload_of(strided, Dtype::f16);
    const TensorSpec& spec = w.tensors.front();
    const MadeInputs made(ladder, {.seed = 9}, w);
    std::vector<char> bytes = by_parts(made, 1 << 20);
    const Results results(w, {bytes});
    for (int64_t i = 0; i < count(spec.shape); ++i) ASSERT_EQ(results.at(0, i), made.at(0, i));
    EXPECT_TRUE(results.gaps_are_intact(0));
    std::vector<bool> taken(size_t(spec.span), false);
    for (int64_t i = 0; i < count(spec.shape); ++i) taken[size_t(offset_of(spec, i))] = true;
    for (size_t i = 0; i < taken.size(); ++i) {
      if (taken[i]) continue;
      std::vector<char> written = bytes;
      written[2 * i + 1] = 0;
      ASSERT_FALSE(Results(w, {written}).gaps_are_intact(0)) << shape_text(spec.shape);
    }
  }
}

}  // namespace
}  // namespace ridge::harness
