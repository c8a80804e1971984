// What the tests of the runtime share: a device that starts clean, kernels of the fake engine, and
// a gate to hold one back so that order can be seen.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "fake_engine.h"
#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

class RuntimeTest : public ::testing::Test {
 protected:
  void TearDown() override {
    cudaDeviceReset();
    cudaGetLastError();
    fake::forget_bodies();
  }
};

// One kernel of the fake engine, loaded as a library.
class TestKernel {
 public:
  explicit TestKernel(const std::string& line, fake::Body body = nullptr) {
    const std::string name = line.substr(0, line.find(' '));
    fake::on_run(name, std::move(body));
    const std::string text = "kernel " + line;
    EXPECT_EQ(
        cudaLibraryLoadData(&library_, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        cudaSuccess);
    EXPECT_EQ(cudaLibraryGetKernel(&kernel_, library_, name.c_str()), cudaSuccess);
  }
  const void* handle() const { return kernel_; }
  cudaError_t launch(cudaStream_t stream = nullptr, dim3 grid = 1, dim3 block = 1,
                     size_t shared = 0, std::vector<void*> arguments = {}) const {
    return cudaLaunchKernel(handle(), grid, block, arguments.data(), shared, stream);
  }

 private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

// A kernel waits here until the test opens the gate.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }
  fake::Body body() {
    return [this](const Launch&) {
      wait();
      return Fault{};
    };
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// What happened, in order, from several threads.
class Trace {
 public:
  void add(std::string what) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(what));
  }
  std::vector<std::string> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  fake::Body body(std::string what) {
    return [this, what](const Launch&) {
      add(what);
      return Fault{};
    };
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> events_;
};

}  // namespace ridge::vm::cudart
