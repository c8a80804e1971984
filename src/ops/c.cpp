#include <algorithm>
#include <bit>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "ladder/ladder.h"
#include "ladder/registry.h"
#include "operator/check.h"
#include "operator/json.h"
#include "ops/c_call.h"
#include "ops/outputs.h"

namespace ridge::ops {
namespace {

static_assert(sizeof(RidgeTensor) == sizeof(Tensor) && RIDGE_MAX_RANK == kMaxRank);
static_assert(offsetof(RidgeTensor, data) == offsetof(Tensor, data) &&
              offsetof(RidgeTensor, dtype) == offsetof(Tensor, dtype) &&
              offsetof(RidgeTensor, rank) == offsetof(Tensor, rank) &&
              offsetof(RidgeTensor, shape) == offsetof(Tensor, shape) &&
              offsetof(RidgeTensor, strides) == offsetof(Tensor, strides) &&
              offsetof(RidgeTensor, scales) == offsetof(Tensor, scales));
static_assert(sizeof(RidgeScales) == sizeof(Scales) &&
              offsetof(RidgeScales, data) == offsetof(Scales, data) &&
              offsetof(RidgeScales, dtype) == offsetof(Scales, dtype) &&
              offsetof(RidgeScales, block_rows) == offsetof(Scales, block_rows) &&
              offsetof(RidgeScales, block_cols) == offsetof(Scales, block_cols) &&
              offsetof(RidgeScales, second) == offsetof(Scales, second) &&
              offsetof(RidgeScales, second_block) == offsetof(Scales, second_block) &&
              offsetof(RidgeScales, offset) == offsetof(Scales, offset));

thread_local std::string last_error;

int kept(const Status& status) {
  if (!status) last_error = status.message();
  return status.code();
}

Expected<const OperatorDef*> operator_for(const char* name, size_t tensors, size_t parameters) {
  const OperatorDef* const op = name ? find_operator(name) : nullptr;
  if (!op) return Error{kInvalid, "there is no operator '" + std::string(name ? name : "") + "'"};
  const auto wrong_number = [&](const char* what, size_t given, size_t wanted) {
    return Error{kInvalid, op->name + ": " + std::to_string(given) + " " + what +
                               " were given; it has " + std::to_string(wanted)};
  };
  if (tensors != op->tensors.size()) return wrong_number("tensors", tensors, op->tensors.size());
  if (parameters != op->parameters.size())
    return wrong_number("parameters", parameters, op->parameters.size());
  return op;
}

Status run_checked(const char* name, std::span<const RidgeTensor* const> tensors,
                   std::span<const Value> parameters, const RidgeWorkspace* workspace,
                   void* stream) {
  const auto op = operator_for(name, tensors.size(), parameters.size());
  if (!op) return op.error();
  std::vector<Tensor> views(tensors.size());
  Call call(**op, {}, parameters);
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t]) continue;
    views[t] = std::bit_cast<Tensor>(*tensors[t]);
    call.tensors[t] = &views[t];
  }
  Workspace memory;
  if (workspace) memory = {workspace->data, workspace->bytes, workspace->wanted};
  return run(call, memory, static_cast<cudaStream_t>(stream));
}

Status fill_in_checked(const char* name, std::span<RidgeTensor* const> tensors,
                       std::span<const Value> parameters, std::span<const int64_t> sizes) {
  const auto op = operator_for(name, tensors.size(), parameters.size());
  if (!op) return op.error();
  if (!sizes.empty() && sizes.size() != (*op)->dimensions.size())
    return Error{kInvalid, (*op)->name + ": " + std::to_string(sizes.size()) +
                               " sizes were given; it has " +
                               std::to_string((*op)->dimensions.size()) + " dimensions"};
  std::array<Tensor, kMostTensors> views;
  std::array<Tensor*, kMostTensors> pointers = {};
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t]) continue;
    views[t] = std::bit_cast<Tensor>(*tensors[t]);
    pointers[t] = &views[t];
  }
  const Status status = fill_in_outputs(**op, {pointers.data(), tensors.size()}, parameters, sizes);
  for (size_t t = 0; status && t < tensors.size(); ++t)
    if (tensors[t]) *tensors[t] = std::bit_cast<RidgeTensor>(views[t]);
  return status;
}

// No exception passes through C.
int guarded(const char* name, std::span<const RidgeTensor* const> tensors,
            std::span<const Value> parameters, const RidgeWorkspace* workspace,
            void* stream) noexcept {
  try {
    return kept(run_checked(name, tensors, parameters, workspace, stream));
  } catch (const std::exception& e) {
    return kept(Error{int(cudaErrorMemoryAllocation), std::string("ridge: ") + e.what()});
  }
}

}  // namespace

int c_call(const char* op, std::initializer_list<const RidgeTensor*> tensors,
           std::initializer_list<Value> parameters, const RidgeWorkspace* workspace,
           void* stream) noexcept {
  return guarded(op, {tensors.begin(), tensors.size()}, {parameters.begin(), parameters.size()},
                 workspace, stream);
}

}  // namespace ridge::ops

const char* ridge_error() { return ridge::ops::last_error.c_str(); }

int ridge_operator_count() { return int(ridge::all_operators().size()); }

const char* ridge_operator_name(int index) {
  const auto all = ridge::all_operators();
  return index >= 0 && size_t(index) < all.size() ? all[size_t(index)]->name.c_str() : nullptr;
}

const char* ridge_operator_json(const char* name) {
  static const auto texts = [] {
    std::map<const ridge::OperatorDef*, std::string> made;
    for (const ridge::OperatorDef* op : ridge::all_operators()) made[op] = json_of(*op);
    return made;
  }();
  const ridge::OperatorDef* const op = name ? ridge::find_operator(name) : nullptr;
  return op ? texts.at(op).c_str() : nullptr;
}

namespace {

// One more than any operator has, so that too many are still too many.
struct Values {
  std::array<ridge::Value, ridge::kMostParameters + 1> of;
  size_t given;
  Values(const double* parameters, int n)
      : given(parameters ? std::min(size_t(std::max(n, 0)), of.size()) : 0) {
    std::copy(parameters, parameters + given, of.begin());
  }
  operator std::span<const ridge::Value>() const { return {of.data(), given}; }
};

template <class T>
std::span<T> span_of(T* data, int n) {
  return {data, size_t(data ? std::max(n, 0) : 0)};
}

}  // namespace

int ridge_outputs(const char* name, RidgeTensor* const* tensors, int n_tensors,
                  const double* parameters, int n_parameters, const int64_t* sizes, int n_sizes) {
  try {
    return ridge::ops::kept(ridge::ops::fill_in_checked(name, span_of(tensors, n_tensors),
                                                        Values(parameters, n_parameters),
                                                        span_of(sizes, n_sizes)));
  } catch (const std::exception& e) {
    return ridge::ops::kept(
        ridge::Error{int(cudaErrorMemoryAllocation), std::string("ridge: ") + e.what()});
  }
}

int ridge_run(const char* name, const RidgeTensor* const* tensors, int n_tensors,
              const double* parameters, int n_parameters, const RidgeWorkspace* workspace,
              void* stream) {
  return ridge::ops::guarded(name, span_of(tensors, n_tensors), Values(parameters, n_parameters),
                             workspace, stream);
}
