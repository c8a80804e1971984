#include "device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "kernel.h"

namespace ridge::golden {
namespace {

constexpr size_t kBatch = 64;  // kernels per module

struct Failure {
  std::string message;
};
void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw Failure{std::string(what) + ": " + cudaGetErrorName(error)};
}

// A device buffer that grows.
class Buffer {
 public:
  ~Buffer() { cudaFree(data_); }
  void* at_least(size_t bytes) {
    if (bytes > size_) {
      cudaFree(data_);
      data_ = nullptr;
      check(cudaMalloc(&data_, bytes), "cudaMalloc");
      size_ = bytes;
    }
    return data_;
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

class Worker {
 public:
  Worker(std::span<const Case> cases, const std::function<void(size_t, const Result&)>& done)
      : cases_(cases), done_(done) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~Worker() { cudaStreamDestroy(stream_); }

  void run(size_t begin, size_t end) {
    std::string text = module_header();
    for (size_t i = begin; i < end; ++i)
      text += kernel_text(cases_[i], "golden_" + std::to_string(i));
    cudaLibrary_t library;
    char log[2048] = "";
    cudaError_t error;
    if (end - begin > 1) {
      error = cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    } else {  // alone: ask for the assembler's words too
      cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
      void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1)};
      error = cudaLibraryLoadData(&library, text.c_str(), options, values, 2, nullptr, nullptr, 0);
    }
    // A runtime may load lazily: the first kernel that is asked for tells.
    cudaKernel_t first;
    if (error == cudaSuccess) {
      error = cudaLibraryGetKernel(&first, library, ("golden_" + std::to_string(begin)).c_str());
      if (error != cudaSuccess) cudaLibraryUnload(library);
    }
    if (error != cudaSuccess) {
      cudaGetLastError();
      if (end - begin == 1) {
        Result refused;
        refused.kind = Result::Kind::refused;
        refused.message = log[0] ? log : cudaGetErrorName(error);
        done_(begin, refused);
        return;
      }
      return halve(begin, end);
    }
    for (size_t i = begin; i < end; ++i) {
      Result result;
      try {
        result = launch(library, i);
      } catch (const Failure& failure) {
        cudaGetLastError();
        result.message = failure.message;
        if (i == begin && end - begin > 1) {  // perhaps not this kernel's fault
          cudaLibraryUnload(library);
          return halve(begin, end);
        }
      }
      done_(i, result);
    }
    cudaLibraryUnload(library);
  }

 private:
  void halve(size_t begin, size_t end) {
    const size_t middle = begin + (end - begin) / 2;
    run(begin, middle);
    run(middle, end);
  }

  Result launch(cudaLibrary_t library, size_t i) {
    const Case& c = cases_[i];
    cudaKernel_t kernel;
    check(cudaLibraryGetKernel(&kernel, library, ("golden_" + std::to_string(i)).c_str()),
          "cudaLibraryGetKernel");
    InputSet set = make_inputs(c.inputs(), c.threads());
    restrict_inputs(c.spelling, set);
    const size_t n = size_t(set.threads), bytes = c.outputs().size() * n * 8;
    void* in = in_.at_least(std::max<size_t>(8, set.words.size() * 8));
    void* out = out_.at_least(bytes);
    void* cells = cells_.at_least(n * 8 * kCellWords);
    check(cudaMemcpyAsync(in, set.words.data(), set.words.size() * 8, cudaMemcpyHostToDevice,
                          stream_),
          "cudaMemcpyAsync");

    Result result;
    result.kind = Result::Kind::ok;
    result.threads = set.threads;
    const auto run_part = [&](uint32_t part) {
      uint32_t threads = uint32_t(n);
      void* arguments[] = {&in, &out, &cells, &threads, &part};
      check(
          cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(unsigned(n / kBlock), 1, 1),
                           dim3(kBlock, 1, 1), arguments, 0, stream_),
          "cudaLaunchKernel");
    };
    const auto read = [&](std::vector<uint64_t>& words) {
      words.resize(bytes / 8);
      check(cudaMemcpyAsync(words.data(), out, bytes, cudaMemcpyDeviceToHost, stream_),
            "cudaMemcpyAsync");
      check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    };
    check(cudaMemsetAsync(out, 0, bytes, stream_), "cudaMemsetAsync");
    run_part(0);
    read(result.words);
    if (!c.whole_warps) {
      std::vector<uint64_t> halves;
      check(cudaMemsetAsync(out, 0, bytes, stream_), "cudaMemsetAsync");
      run_part(1);
      run_part(2);
      read(halves);
      result.split_differs = halves != result.words;
    }
    result.inputs = std::move(set.words);
    return result;
  }

  std::span<const Case> cases_;
  const std::function<void(size_t, const Result&)>& done_;
  cudaStream_t stream_ = nullptr;
  Buffer in_, out_, cells_;
};

}  // namespace

std::string device_name() {
  cudaDeviceProp properties;
  int driver = 0;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return "no device";
  cudaDriverGetVersion(&driver);
  return std::string(properties.name) + ", driver " + std::to_string(driver);
}

void run_cases(const std::vector<Case>& cases, int jobs,
               const std::function<void(size_t, const Result&)>& done) {
  // Else a module is assembled when its first kernel is launched.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  std::mutex mutex;
  const std::function<void(size_t, const Result&)> one_at_a_time = [&](size_t i, const Result& r) {
    const std::lock_guard lock(mutex);
    done(i, r);
  };
  std::atomic<size_t> next = 0;
  std::string failure;
  const auto work = [&] {
    try {
      Worker worker(cases, one_at_a_time);
      for (size_t begin; (begin = next.fetch_add(kBatch)) < cases.size();)
        worker.run(begin, std::min(begin + kBatch, cases.size()));
    } catch (const Failure& f) {
      const std::lock_guard lock(mutex);
      failure = f.message;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < jobs; ++i) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  if (!failure.empty()) {
    Result failed;
    failed.message = failure;
    done(0, failed);
  }
}

}  // namespace ridge::golden
