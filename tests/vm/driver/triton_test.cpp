// PTX that Triton wrote (triton/kernels.py --ptx), loaded and launched as its launcher does.
// Besides their own arguments the kernels take two addresses of scratch memory.
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

constexpr unsigned kThreads = 128;  // four warps
constexpr unsigned kBlock = 256;    // elements of one program
// Bytes of shared memory that the product asks for; kernels.py --ptx prints it.
constexpr unsigned kDotShared = 8192;

class Triton : public DriverTest {
 protected:
  std::string text(const char* name) {
    std::ifstream file(std::string(RIDGE_TEST_TRITON "/") + name);
    EXPECT_TRUE(file) << name;
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  CUresult launch(CUfunction function, unsigned grid, unsigned shared,
                  std::vector<void*> arguments) {
    static CUdeviceptr none = 0;
    arguments.insert(arguments.end(), {&none, &none});
    CUlaunchConfig config{};
    config.gridDimX = grid;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = kThreads;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = shared;
    return cuLaunchKernelEx(&config, function, arguments.data(), nullptr);
  }
};

TEST_F(Triton, VectorAdd) {
  const Module module(text("vector_add.ptx").c_str());
  std::vector<float> a(1000), b(1000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = float(i) * 0.25f, b[i] = 1.0f / float(i + 1);
  Floats device_a(a), device_b(b), out(std::vector<float>(1024, -1));
  int n = 1000;
  EXPECT_OK(launch(module.function("vector_add"), (1000 + kBlock - 1) / kBlock, 0,
                   {&device_a.address, &device_b.address, &out.address, &n}));
  const std::vector<float> values = out.values();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(values[i], a[i] + b[i]) << i;
  for (size_t i = a.size(); i < values.size(); ++i) EXPECT_EQ(values[i], -1) << i;
}

TEST_F(Triton, SoftmaxOfRows) {
  const Module module(text("softmax_row.ptx").c_str());
  constexpr int kRows = 5, kColumns = 200;
  std::vector<float> x(kRows * kColumns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 5 * std::sin(float(i));
  Floats device_x(x), out(std::vector<float>(x.size(), -1));
  int columns = kColumns;
  EXPECT_OK(launch(module.function("softmax_row"), kRows, 16,
                   {&device_x.address, &out.address, &columns}));
  const std::vector<float> values = out.values();
  for (int row = 0; row < kRows; ++row) {
    double total = 0;
    for (int c = 0; c < kColumns; ++c) total += std::exp(double(x[size_t(row * kColumns + c)]));
    for (int c = 0; c < kColumns; ++c) {
      const auto i = size_t(row * kColumns + c);
      EXPECT_NEAR(values[i], std::exp(double(x[i])) / total, 1e-6) << i;
    }
  }
}

// tl.dot on bf16, which is wgmma: a tile of 64 by 32 for each program, B by columns.
TEST_F(Triton, Product) {
  const Module module(text("dot_by_pointers.ptx").c_str());
  constexpr int kRows = 64, kColumns = 32, kDepth = 96;
  const auto number = [](int i, int k) { return float((i * 7 + k * 3) % 9 - 4); };
  const auto brains = [&](int count) {  // two numbers in a word, as they lie in memory
    std::vector<float> words(size_t(count * kDepth / 2));
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < kDepth; k += 2) {
        const auto bits = [&](float x) { return std::bit_cast<uint32_t>(x) >> 16; };
        words[size_t(i * kDepth + k) / 2] =
            std::bit_cast<float>(bits(number(i, k)) | bits(number(i, k + 1)) << 16);
      }
    return words;
  };
  Floats a(brains(kRows)), b(brains(kColumns)), out(std::vector<float>(kRows * kColumns, -1));
  int n = kColumns, k = kDepth;
  EXPECT_OK(launch(module.function("dot_by_pointers"), 1, kDotShared,
                   {&a.address, &b.address, &out.address, &n, &k}));
  const std::vector<float> values = out.values();
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = 0;
    for (int d = 0; d < kDepth; ++d) sum += number(i / kColumns, d) * number(i % kColumns, d);
    EXPECT_EQ(values[size_t(i)], sum) << i;
  }
}

}  // namespace
}  // namespace ridge::vm::driver
