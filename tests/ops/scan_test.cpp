#include "ridge/scan.h"

#include <algorithm>
#include <climits>

#include "device_array.h"
#include "graph.h"

namespace ridge {
namespace {

using Scan = Status(const Tensor&, const Tensor&, const Workspace&, cudaStream_t);
using MarkedScan = Status(const Tensor&, const Tensor&, const Tensor&, const Workspace&,
                          cudaStream_t);

template <class T>
std::vector<T> scanned(Scan* scan, Dtype dtype, const std::vector<T>& in) {
  const DeviceArray<T> x(in), out(in.size());
  const auto n = int64_t(in.size());
  const Tensor from(x.data(), dtype, {n}), to(out.data(), dtype, {n});
  size_t bytes = 0;
  const Status asked = scan(from, to, Workspace::ask(bytes), nullptr);
  EXPECT_TRUE(asked) << asked.message();
  const DeviceArray<char> workspace(bytes, 'x');
  const Status s = scan(from, to, {workspace.data(), bytes}, nullptr);
  EXPECT_TRUE(s) << s.message();
  return out.values();
}
template <class T, class M>
std::vector<T> scanned(MarkedScan* scan, Dtype dtype, Dtype mark_dtype, const std::vector<T>& in,
                       const std::vector<M>& marks) {
  const DeviceArray<T> x(in);
  const DeviceArray<M> where(marks);
  const auto n = int64_t(in.size());
  const Tensor from(x.data(), dtype, {n}), at(where.data(), mark_dtype, {n});
  size_t bytes = 0;
  const Status asked = scan(from, at, from, Workspace::ask(bytes), nullptr);  // in place
  EXPECT_TRUE(asked) << asked.message();
  const DeviceArray<char> workspace(bytes, 'x');
  const Status s = scan(from, at, from, {workspace.data(), bytes}, nullptr);
  EXPECT_TRUE(s) << s.message();
  return x.values();
}

TEST(Scan, SumsAndMaxima) {
  const std::vector<int32_t> in = {3, -1, 4, 1, -5, 9};
  EXPECT_EQ(scanned(inclusive_scan, Dtype::i32, in), (std::vector<int32_t>{3, 2, 6, 7, 2, 11}));
  EXPECT_EQ(scanned(exclusive_scan, Dtype::i32, in), (std::vector<int32_t>{0, 3, 2, 6, 7, 2}));
  EXPECT_EQ(scanned(inclusive_max_scan, Dtype::i32, in), (std::vector<int32_t>{3, 3, 4, 4, 4, 9}));
  EXPECT_EQ(scanned(exclusive_max_scan, Dtype::i32, in),
            (std::vector<int32_t>{INT32_MIN, 3, 3, 4, 4, 4}));
  EXPECT_EQ(
      scanned<int64_t>(inclusive_scan, Dtype::i64, {int64_t(1) << 40, 1, 1}),
      (std::vector<int64_t>{int64_t(1) << 40, (int64_t(1) << 40) + 1, (int64_t(1) << 40) + 2}));
  EXPECT_EQ(scanned<float>(inclusive_scan, Dtype::f32, {.5f, .25f, 8}),
            (std::vector<float>{.5f, .75f, 8.75f}));
  // f16: 1, 2, 3
  EXPECT_EQ(scanned<uint16_t>(inclusive_scan, Dtype::f16, {0x3c00, 0x3c00, 0x3c00}),
            (std::vector<uint16_t>{0x3c00, 0x4000, 0x4200}));
}

TEST(Scan, ManyTiles) {
  std::vector<int32_t> in(30001), wanted(30001);
  for (size_t i = 0; i < in.size(); ++i) in[i] = int32_t(i % 17) - 7;
  int32_t sum = 0;
  for (size_t i = 0; i < in.size(); ++i) wanted[i] = sum += in[i];
  EXPECT_EQ(scanned(inclusive_scan, Dtype::i32, in), wanted);
}

TEST(Scan, Segments) {
  const std::vector<int32_t> in = {1, 2, 3, 4, 5, 6};
  const std::vector<uint8_t> heads = {0, 0, 1, 0, 0, 7};
  const std::vector<int32_t> keys = {4, 4, 9, 9, 9, 4};
  const std::vector<int32_t> inclusive = {1, 3, 3, 7, 12, 6}, exclusive = {0, 1, 0, 3, 7, 0};
  EXPECT_EQ(scanned(inclusive_segmented_scan, Dtype::i32, Dtype::u8, in, heads), inclusive);
  EXPECT_EQ(scanned(exclusive_segmented_scan, Dtype::i32, Dtype::u8, in, heads), exclusive);
  EXPECT_EQ(scanned(inclusive_scan_by_key, Dtype::i32, Dtype::i32, in, keys), inclusive);
  EXPECT_EQ(scanned(exclusive_scan_by_key, Dtype::i32, Dtype::i32, in, keys), exclusive);
}

TEST(Scan, SaysWhatIsWrong) {
  const DeviceArray<int32_t> in(16), out(16), keys(16);
  const Tensor from(in.data(), Dtype::i32, {8}), to(out.data(), Dtype::i32, {8});
  const auto message = [](const Tensor& a, const Tensor& b) {
    return inclusive_scan(a, b, {}).message();
  };
  EXPECT_EQ(message(from, {out.data(), Dtype::i32, {7}}),
            "inclusive_scan: out is i32 (7) but in is i32 (8)");
  EXPECT_EQ(message(from, {out.data(), Dtype::f32, {8}}),
            "inclusive_scan: out is f32 but in is i32");
  EXPECT_EQ(message({in.data(), Dtype::u8, {8}}, to),
            "inclusive_scan: in is u8; it can be i32, i64, f32, f16, bf16");
  EXPECT_EQ(message({nullptr, Dtype::i32, {8}}, to), "inclusive_scan: in is null");
  EXPECT_EQ(message({in.data(), Dtype::i32, {-8}}, to),
            "inclusive_scan: in has a negative size: i32 (-8)");
  EXPECT_EQ(message({reinterpret_cast<char*>(in.data()) + 1, Dtype::i32, {8}}, to),
            "inclusive_scan: in is not aligned to its elements, which are 4 bytes");
  EXPECT_EQ(message({in.data(), Dtype::i32, {2, 4}}, {out.data(), Dtype::i32, {2, 4}}),
            "inclusive_scan: in is i32 (2, 4); it has to be (n)");
  EXPECT_EQ(message(from, {in.data() + 1, Dtype::i32, {8}}),
            "inclusive_scan: out and in overlap in memory without being the same tensor");
  Tensor spread = from;
  spread.strides = {2};
  EXPECT_EQ(message(spread, to),
            "inclusive_scan: in has strides (2) for i32 (8); it has to be contiguous");
  EXPECT_EQ(exclusive_segmented_scan(from, {keys.data(), Dtype::i32, {8}}, to, {}).message(),
            "exclusive_segmented_scan: heads is i32; it can be u8");
  EXPECT_EQ(exclusive_scan_by_key(from, {keys.data(), Dtype::i32, {7}}, to, {}).message(),
            "exclusive_scan_by_key: keys is i32 (7) but in is i32 (8)");
  EXPECT_EQ(exclusive_scan_by_key(from, to, to, {}).message(),
            "exclusive_scan_by_key: out and keys overlap in memory");
}

TEST(Scan, NothingIsFine) {
  const Tensor none(nullptr, Dtype::f32, {0});
  size_t bytes = 1;
  ASSERT_TRUE(inclusive_scan(none, none, Workspace::ask(bytes)));
  EXPECT_EQ(bytes, 0u);
  EXPECT_TRUE(inclusive_scan(none, none, {}));
  EXPECT_TRUE(exclusive_segmented_scan(none, {nullptr, Dtype::u8, {0}}, none, {}));
}

TEST(Scan, TheWorkspaceAndAGraph) {
  const int64_t n = 20000;
  const DeviceArray<int32_t> in(size_t(n), 1), out(static_cast<size_t>(n));
  const Tensor from(in.data(), Dtype::i32, {n}), to(out.data(), Dtype::i32, {n});
  size_t bytes = 0;
  ASSERT_TRUE(inclusive_scan(from, to, Workspace::ask(bytes)));
  ASSERT_GT(bytes, 0u);
  const DeviceArray<char> workspace(bytes + 16);
  EXPECT_EQ(inclusive_scan(from, to, {workspace.data(), bytes - 1}).message(),
            "inclusive_scan: the workspace has " + std::to_string(bytes - 1) +
                " bytes, but takes " + std::to_string(bytes));
  EXPECT_EQ(inclusive_scan(from, to, {nullptr, bytes}).message(),
            "inclusive_scan: the workspace is null");
  EXPECT_EQ(inclusive_scan(from, to, {workspace.data() + 8, bytes}).message(),
            "inclusive_scan: the workspace is not aligned to 16 bytes");
  EXPECT_EQ(inclusive_scan(from, to, {out.data(), bytes}).message(),
            "inclusive_scan: the workspace and out overlap in memory");
  run_as_graph([&](cudaStream_t stream) {
    return inclusive_scan(from, to, {workspace.data(), bytes}, stream);
  });
  EXPECT_EQ(out.values()[size_t(n - 1)], n);
}

}  // namespace
}  // namespace ridge
