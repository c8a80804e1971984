// The checks that all operators of the public API make of their tensors, and their messages.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "core/status.h"
#include "ridge/tensor.h"

namespace ridge::ops {

constexpr int kInvalid = int(cudaErrorInvalidValue);

struct Named {
  const char* name;
  const Tensor& tensor;
};

// Keeps the first complaint. Once there is one, nothing is launched.
class Check {
 public:
  explicit Check(const char* op) : op_(op) {}

  // Rank, sizes and strides that memory can have; a pointer where there are elements, aligned to
  // them.
  Check& valid(Named t);
  Check& dtype(Named t, std::span<const Dtype> allowed);
  Check& same_dtype(Named a, Named b);
  Check& same_shape(Named a, Named b);
  // An output may be the input itself, element for element, but must not overlap it otherwise.
  Check& no_partial_overlap(Named out, Named in);
  Check& no_overlap(Named out, Named in);
  Check& distinct(Named out);  // no element of an output lies where another does
  // `complaint` is a text, or a function that makes one where it is needed.
  template <class Complaint>
  Check& that(bool holds, Complaint complaint) {
    if (!status_ || holds) return *this;
    if constexpr (std::is_invocable_v<Complaint>) fail(complaint());
    else fail(complaint);
    return *this;
  }

  explicit operator bool() const { return bool(status_); }
  const Status& status() const { return status_; }

 private:
  void fail(const std::string& complaint);
  const char* op_;
  Status status_;
};

std::string text(const Tensor& tensor);     // "f32 (3, 5)"
std::string strides_text(const Tensor& t);  // "(5, 1)"

// The memory from the first to the last byte of a tensor that has elements.
struct Range {
  uintptr_t begin, end;
};
Range range_of(const Tensor& t);
// Whether memory and a tensor share a byte.
bool overlaps(const void* memory, size_t bytes, const Tensor& t);

}  // namespace ridge::ops
