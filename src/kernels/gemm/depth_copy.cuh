// Operands in the form that tf32 wants. The tensor cores take one of the two factors from shared
// memory, and its depth must be contiguous there; the other one comes from registers, and may lie
// either way. So the factor that lies right becomes the second one: b, or a in the transposed
// product. Where both lie wrong, the smaller one is turned on its way to the workspace. Matrices
// that lie askew are copied first.
//
//   const AlongDepth along(args);                           // where copies would lie
//   along.bytes()                                           // how much workspace they take
//   if (const Status s = along.copy(stream); !s) return s;  // makes them
//   … along.product(), along.is_transposed() …              // what is multiplied
#pragma once

#include "kernels/gemm/hopper.cuh"
#include "kernels/gemm/turned_copy.cuh"
#include "select/select.h"

namespace ridge::gemm::hopper {

class AlongDepth {
 public:
  explicit AlongDepth(const Args& args) : given_(args), aligned_(args), product_(aligned_.args()) {
    if (is_empty(args) || args.k == 0) return;
    const bool a_lies_right = !operand_a(product_).is_turned();
    const bool b_lies_right = !operand_b(product_).is_turned();
    is_transposed_ = !b_lies_right && (a_lies_right || args.m < args.n);
    if (!a_lies_right && !b_lies_right)
      turn(is_transposed_ ? product_.a : product_.b, is_transposed_ ? args.m : args.n);
    if (is_transposed_) product_ = transposed(product_);
  }

  // The product whose b has contiguous depth: of d, or of transpose(d).
  const Args& product() const { return product_; }
  bool is_transposed() const { return is_transposed_; }
  size_t bytes() const { return aligned_.bytes() + turned_bytes_; }
  int launches() const { return (aligned_.bytes() > 0 ? 1 : 0) + (turned_bytes_ > 0 ? 1 : 0); }
  // How long the copies take.
  double copies_us(const DeviceInfo& device) const {
    constexpr ridge::Tuned kCopy = {3.0, 0.75};  // of one kernel
    const double read_and_written = 2 * double(bytes());
    return launches() * kCopy.fixed_us +
           streaming_us({0, kCopy.bandwidth_share}, read_and_written, device);
  }

  Status copy(cudaStream_t stream) const {
    if (given_.workspace_bytes < bytes())
      return Error{int(cudaErrorInvalidValue),
                   "the workspace has " + std::to_string(given_.workspace_bytes) +
                       " bytes, but copies of the operands take " + std::to_string(bytes())};
    if (const Status s = aligned_.copy(stream); !s) return s;
    if (turned_bytes_ == 0) return Status::ok();
    turned_copy::gemm_turned_copy<float>
        <<<unsigned(job_.blocks), turned_copy::kThreads, 0, stream>>>(job_, {});
    return launch_status();
  }

 private:
  // The copy has the depth contiguous, which is the width of the job.
  void turn(Matrices& operand, int64_t width) {
    using turned_copy::kTile;
    const int64_t count = operand.batch_step == 0 ? 1 : given_.batch;
    const int64_t depth = given_.k, pitch = aligned_copy::rounded_up(depth, 4);
    constexpr auto kLine = uintptr_t(aligned_copy::kCacheLine);
    auto at = reinterpret_cast<uintptr_t>(product_.workspace);
    at += -at % kLine;
    const int64_t depth_step = is_transposed_ ? operand.col_step : operand.row_step;
    job_ = {.from = static_cast<const float*>(operand.data),
            .to = reinterpret_cast<float*>(at),
            .width = depth,
            .depth = width,
            .width_step = depth_step,
            .depth_step = 1,
            .step = operand.batch_step,
            .to_pitch = pitch,
            .to_step = count > 1 ? width * pitch : 0,
            .tiles_along_width = int(tiles_of(depth, kTile)),
            .tiles_of_one = int(tiles_of(depth, kTile) * tiles_of(width, kTile))};
    job_.blocks = count * job_.tiles_of_one;
    turned_bytes_ = kLine + size_t(count * width * pitch) * sizeof(float);
    operand = {.data = job_.to,
               .row_step = is_transposed_ ? pitch : 1,
               .col_step = is_transposed_ ? 1 : pitch,
               .batch_step = job_.to_step};
  }

  Args given_;
  AlignedOperands aligned_;
  Args product_;
  bool is_transposed_ = false;
  turned_copy::Job<float> job_;
  size_t turned_bytes_ = 0;
};

// Which calls the rungs serve that multiply in tf32.
inline Support supports_tf32(const Args& a, const DeviceInfo& device) {
  if (a.dtype != Dtype::f32) return "multiplies f32";
  if (!a.may_round) return "rounds factors to tf32, which needs precision = tf32";
  const Support plain = only_plain(a);
  return plain ? reaches_operands(AlongDepth(a).product(), device) : plain;
}

}  // namespace ridge::gemm::hopper
