// Device memory that repeats a pattern, and takes none until somebody uses it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "ridge/vm_counters.h"
#include "vm/cudart/api.h"

namespace {

using Bytes = std::vector<uint8_t>;

class Repeat : public ::testing::Test {
 protected:
  const size_t page_ = size_t(sysconf(_SC_PAGESIZE));
  const size_t period_ = 4 * page_;
  const size_t bytes_ = 5 * period_ + 3 * page_ + 100;  // ends in the middle of a page
  Bytes pattern_ = Bytes(period_);
  uint8_t* device_ = nullptr;

  void SetUp() override {
    for (size_t i = 0; i < period_; ++i) pattern_[i] = uint8_t(i * 7 + i / 251);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device_), bytes_ + 2 * page_), cudaSuccess);
    clear();
  }
  // Ends before the memory is used in other ways.
  void clear() {
    ASSERT_EQ(cudaMemset(device_, 0xee, bytes_ + 2 * page_), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  void TearDown() override { cudaFree(device_); }

  Bytes read(const uint8_t* from, size_t bytes) {
    Bytes out(bytes);
    EXPECT_EQ(cudaMemcpy(out.data(), from, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    return out;
  }
  Bytes expected() const {
    Bytes all(bytes_);
    for (size_t i = 0; i < bytes_; ++i) all[i] = pattern_[i % period_];
    return all;
  }
  // The first byte that is different; the number of bytes where all are the same.
  static size_t first_other(const Bytes& a, const Bytes& b) {
    return size_t(std::ranges::mismatch(a, b).in1 - a.begin());
  }
};

// Wherever it begins in a page. What lies before and behind it stays.
TEST_F(Repeat, AllOfItReadsBackRight) {
  for (const size_t offset : {size_t(0), size_t(256), page_ - 256, page_ + 1}) {
    clear();
    ASSERT_EQ(ridge_vm_repeat(device_ + offset, bytes_, pattern_.data(), period_), 1);
    EXPECT_EQ(first_other(read(device_ + offset, bytes_), expected()), bytes_) << offset;
    EXPECT_EQ(read(device_, offset), Bytes(offset, 0xee)) << offset;
    const size_t behind = 2 * page_ - offset;
    EXPECT_EQ(read(device_ + offset + bytes_, behind), Bytes(behind, 0xee)) << offset;
  }
}

TEST_F(Repeat, TwoWholePeriodsAreEnough) {
  ASSERT_EQ(ridge_vm_repeat(device_ + 256, 2 * period_, pattern_.data(), period_), 1);
  Bytes twice = pattern_;
  twice.insert(twice.end(), pattern_.begin(), pattern_.end());
  EXPECT_EQ(first_other(read(device_ + 256, 2 * period_), twice), 2 * period_);
}

// Neither in the other periods nor in the pattern that was handed over.
TEST_F(Repeat, WritesStayWhereTheyAre) {
  ASSERT_EQ(ridge_vm_repeat(device_ + 256, bytes_, pattern_.data(), period_), 1);
  const Bytes before = pattern_;
  Bytes all = expected();
  const auto write = [&](size_t at, size_t bytes, uint8_t value) {
    ASSERT_EQ(cudaMemset(device_ + 256 + at, value, bytes), cudaSuccess);
    std::memset(all.data() + at, value, bytes);
  };
  write(page_ + 5, 3, 0xaa);
  write(2 * period_ - 10, 20, 0xbb);  // across the boundary
  write(bytes_ - 1, 1, 0xcc);
  EXPECT_EQ(first_other(read(device_ + 256, bytes_), all), bytes_);
  EXPECT_EQ(pattern_, before);
  std::ranges::fill(pattern_, uint8_t(0));  // nor does the memory follow the pattern
  EXPECT_EQ(first_other(read(device_ + 256, bytes_), all), bytes_);
}

TEST_F(Repeat, ItCanBeRepeatedOver) {
  ASSERT_EQ(ridge_vm_repeat(device_, bytes_, pattern_.data(), period_), 1);
  for (uint8_t& byte : pattern_) byte = uint8_t(~byte);
  ASSERT_EQ(ridge_vm_repeat(device_, bytes_, pattern_.data(), period_), 1);
  EXPECT_EQ(first_other(read(device_, bytes_), expected()), bytes_);
}

TEST_F(Repeat, OtherPeriodsAndShortMemoryAreLeftAlone) {
  for (const size_t period : {size_t(0), size_t(1), page_ / 2, page_ - 1, page_ + 256})
    EXPECT_EQ(ridge_vm_repeat(device_, bytes_, pattern_.data(), period), 0) << period;
  EXPECT_EQ(ridge_vm_repeat(device_, 2 * period_ - 1, pattern_.data(), period_), 0);
  EXPECT_EQ(read(device_, bytes_), Bytes(bytes_, 0xee));
}

}  // namespace
