// What the arguments of a call mean, and what is wrong with them. The first failure is kept; all
// that is asked for after it gives something harmless.
#pragma once

#include <string>

#include "ridge/workspace.h"
#include "standin/cublas/call.h"
#include "standin/cublas/kernels.h"

namespace ridge::cublas {

class Arguments {
 public:
  explicit Arguments(const Context& context) : context_(context) {}

  explicit operator bool() const { return bool(status_); }
  const Status& status() const { return status_; }
  const Context& context() const { return context_; }

  void fail(Error error) {
    if (status_) status_ = std::move(error);
  }
  void require(bool holds, const char* name, int64_t value, const char* what) {
    if (!holds)
      fail(invalid(std::string(name) + " is " + std::to_string(value) + "; it has to be " + what));
  }
  void size(const char* name, int64_t value) { require(value >= 0, name, value, "at least 0"); }
  void increment(const char* name, int64_t value) { require(value != 0, name, value, "not 0"); }
  // The distance of two columns of a matrix that has that many rows.
  void leading(const char* name, int64_t value, int64_t rows);

  // The format behind a cudaDataType; formats without kernels are refused.
  Dtype format(const char* name, cudaDataType type);
  bool transposed(const char* name, cublasOperation_t op);

  // A factor where the pointer mode says.
  Scalar scalar(const char* name, const void* pointer, Dtype dtype);
  // Where a result goes where the pointer mode says.
  void result(const char* name, const void* pointer);
  // Memory that kernels use, not null unless `elements` is 0.
  void device(const char* name, const void* pointer, int64_t elements);

  // With an increment as BLAS has it: a negative one walks from the end.
  Vector vector(const char* name, const void* data, Dtype dtype, int64_t n, int64_t increment);

 private:
  const Context& context_;
  Status status_;
};

// "CUDA_R_16F"; the number where it has no name here.
std::string type_name(cudaDataType type);

// Scratch memory of one call, in the order of the stream: from the program's workspace as long as
// that lasts, else allocated. It is given back when the call ends.
class Scratch {
 public:
  explicit Scratch(const Context& context) : context_(context) {}
  ~Scratch();
  Scratch(const Scratch&) = delete;

  Expected<void*> get(size_t bytes);

 private:
  static constexpr int kMost = 8;
  const Context& context_;
  size_t used_ = 0;  // of the workspace
  void* allocated_[kMost] = {};
  int count_ = 0;
};

// Runs one of Ridge's operators: `op(workspace)` is called twice, to ask and to run.
template <class F>
Status run_operator(Scratch& scratch, F op) {
  size_t bytes = 0;
  if (const Status asked = op(Workspace::ask(bytes)); !asked) return from_operator(asked);
  Workspace workspace;
  if (bytes > 0) {
    const auto memory = scratch.get(bytes);
    if (!memory) return memory.error();
    workspace = {*memory, bytes, nullptr};
  }
  return from_operator(op(workspace));
}

}  // namespace ridge::cublas
