// What every operator of the public API asks of its tensors, and how it says no.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>

#include "core/status.h"
#include "ridge/tensor.h"
#include "select/device.h"
#include "select/select.h"

namespace ridge::ops {

constexpr int kInvalid = int(cudaErrorInvalidValue);
constexpr size_t kWorkspaceAlignment = 16;

struct Named {
  const char* name;
  const Tensor& tensor;
};

// Collects the first complaint; nothing is launched once there is one.
class Check {
 public:
  explicit Check(const char* op) : op_(op) {}

  // Rank, sizes and strides that memory can have; a pointer where there are elements, aligned to
  // them; no packed format and no scales, which would silently be left behind.
  Check& valid(Named t);
  Check& dtype(Named t, std::initializer_list<Dtype> allowed);
  Check& same_dtype(Named a, Named b);
  Check& same_shape(Named a, Named b);
  // An output may be the input itself, element for element, but must not overlap it otherwise.
  Check& no_partial_overlap(Named out, Named in);
  Check& no_overlap(Named out, Named in);
  Check& distinct(Named out);  // no element of an output lies where another does
  Check& that(bool holds, const std::string& complaint);

  explicit operator bool() const { return bool(status_); }
  const Status& status() const { return status_; }

 private:
  const char* op_;
  Status status_;
};

std::string text(const Tensor& tensor);     // "f32 (3, 5)"
std::string strides_text(const Tensor& t);  // "(5, 1)"

// Tensors of one shape as few rows and columns as possible. Dimensions that lie one after another
// in all of them are merged; what is left beyond two is walked, slab by slab.
template <size_t N>
struct Slab {
  int64_t rows = 1, cols = 1;
  std::array<int64_t, N> stride = {}, step = {};  // elements from row to row, from column to column
  std::array<void*, N> data = {};
};
template <size_t N, class F>
Status each_slab(const std::array<const Tensor*, N>& tensors, F f) {
  // Merged dimensions, outermost first.
  int rank = 0;
  std::array<int64_t, kMaxRank> size = {};
  std::array<std::array<int64_t, N>, kMaxRank> strides = {};
  for (int d = 0; d < tensors[0]->rank; ++d) {
    if (tensors[0]->shape[size_t(d)] == 1) continue;
    bool merges = rank > 0;
    for (size_t t = 0; t < N && merges; ++t)
      merges = strides[size_t(rank - 1)][t] ==
               tensors[t]->strides[size_t(d)] * tensors[t]->shape[size_t(d)];
    if (!merges) size[size_t(rank++)] = 1;
    size[size_t(rank - 1)] *= tensors[0]->shape[size_t(d)];
    for (size_t t = 0; t < N; ++t) strides[size_t(rank - 1)][t] = tensors[t]->strides[size_t(d)];
  }
  Slab<N> slab;
  if (rank >= 1) slab.cols = size[size_t(rank - 1)];
  if (rank >= 2) slab.rows = size[size_t(rank - 2)];
  for (size_t t = 0; t < N; ++t) {
    slab.step[t] = rank >= 1 ? strides[size_t(rank - 1)][t] : 1;
    slab.stride[t] = rank >= 2 ? strides[size_t(rank - 2)][t] : slab.cols * slab.step[t];
  }
  const int outer = std::max(rank - 2, 0);
  std::array<int64_t, kMaxRank> at = {};
  while (true) {
    for (size_t t = 0; t < N; ++t) {
      int64_t offset = 0;
      for (int d = 0; d < outer; ++d) offset += at[size_t(d)] * strides[size_t(d)][t];
      slab.data[t] =
          static_cast<char*>(tensors[t]->data) + offset * int64_t(size_of(tensors[t]->dtype));
    }
    if (const Status s = f(slab); !s) return s;
    int d = outer - 1;
    while (d >= 0 && ++at[size_t(d)] == size[size_t(d)]) at[size_t(d--)] = 0;
    if (d < 0) return Status::ok();
  }
}

// The rung for a call, and what it wants.
template <class Args>
struct Chosen {
  DeviceInfo device;
  const RungOf<Args>* rung;
  size_t workspace_bytes;
};
template <class Args>
Expected<Chosen<Args>> choose(const char* op, std::span<const RungOf<Args>* const> rungs,
                              const Args& args) {
  const auto device = current_device();
  if (!device) return device.error();
  const char* why = "no rung";
  const int index = select(rungs, args, *device, [&](const Candidate& c) {
    if (!c.support) why = c.support.reason;
  });
  if (index < 0) return Error{kInvalid, std::string(op) + ": " + why};
  const RungOf<Args>* rung = rungs[size_t(index)];
  return Chosen<Args>{*device, rung, rung->workspace ? rung->workspace(args, *device) : 0};
}

bool overlaps(const void* memory, size_t bytes, const Tensor& t);

// Picks the rung and launches it. `apart`: the tensors of a call with a workspace, which share no
// byte with what the rung takes of it.
template <class Args>
Status dispatch(const char* op, std::span<const RungOf<Args>* const> rungs, const Args& args,
                cudaStream_t stream, std::initializer_list<Named> apart = {}) {
  const auto chosen = choose(op, rungs, args);
  if (!chosen) return chosen.error();
  const size_t wanted = chosen->workspace_bytes;
  if (args.workspace_bytes < wanted)
    return Error{kInvalid, std::string(op) + ": the workspace has " +
                               std::to_string(args.workspace_bytes) + " bytes, but takes " +
                               std::to_string(wanted)};
  if (wanted && !args.workspace)
    return Error{kInvalid, std::string(op) + ": the workspace is null"};
  if (wanted && reinterpret_cast<uintptr_t>(args.workspace) % kWorkspaceAlignment != 0)
    return Error{kInvalid, std::string(op) + ": the workspace is not aligned to " +
                               std::to_string(kWorkspaceAlignment) + " bytes"};
  for (const Named& t : apart)
    if (overlaps(args.workspace, wanted, t.tensor))
      return Error{kInvalid,
                   std::string(op) + ": the workspace and " + t.name + " overlap in memory"};
  return chosen->rung->launch(args, chosen->device, stream);
}

// Bytes that `dispatch` will want for the same arguments.
template <class Args>
Expected<size_t> workspace_for(const char* op, std::span<const RungOf<Args>* const> rungs,
                               const Args& args) {
  const auto chosen = choose(op, rungs, args);
  if (!chosen) return chosen.error();
  return chosen->workspace_bytes;
}

}  // namespace ridge::ops
