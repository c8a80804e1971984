#include "harness/memory_order.h"

#include <algorithm>
#include <array>

#include "core/number.h"
#include "core/parallel.h"
#include "harness/convert.h"

namespace ridge::harness {
namespace {

// Elements one after another in memory, `stride` apart there and `step` apart in the order of the
// shape.
struct Run {
  int64_t offset, stride, index, step, length;
};

// The elements of a tensor in the order of its memory.
class MemoryOrder {
 public:
  explicit MemoryOrder(const TensorSpec& spec) : elements_(count(spec.shape)) {
    int64_t step = 1;
    for (size_t d = spec.shape.size(); d-- > 0; step *= spec.shape[d])
      if (spec.shape[d] != 1) dims_.push_back({spec.shape[d], spec.strides[d], step});
    std::sort(dims_.begin(), dims_.end(),
              [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
    if (dims_.empty()) dims_.push_back({1, 1, 1});
    // Two that follow each other without a gap, in both orders, are one.
    for (size_t d = 1; d < dims_.size();) {
      Dim &inner = dims_[d - 1], &outer = dims_[d];
      if (outer.stride == inner.stride * inner.size && outer.step == inner.step * inner.size) {
        inner.size *= outer.size;
        dims_.erase(dims_.begin() + std::ptrdiff_t(d));
      } else {
        ++d;
      }
    }
  }

  int64_t elements() const { return elements_; }
  int64_t offset(int64_t element) const { return run(element, element + 1).offset; }

  // Calls visit(run) for the elements `first` … `last`, in this order.
  template <class Visit>
  void each_run(int64_t first, int64_t last, const Visit& visit) const {
    while (first < last) {
      const Run next = run(first, last);
      visit(next);
      first += next.length;
    }
  }

 private:
  struct Dim {
    int64_t size, stride, step;
  };
  Run run(int64_t first, int64_t last) const {
    const Dim& inner = dims_.front();
    Run run = {0, inner.stride, 0, inner.step,
               std::min(last - first, inner.size - first % inner.size)};
    for (const Dim& dim : dims_) {
      run.offset += first % dim.size * dim.stride;
      run.index += first % dim.size * dim.step;
      first /= dim.size;
    }
    return run;
  }

  std::vector<Dim> dims_;  // innermost first
  int64_t elements_;
};

void write_run(const Elements& inputs, size_t tensor, const Run& run, char* bytes, int64_t begin) {
  const Dtype dtype = inputs.spec(tensor).dtype;
  std::array<double, 1024> values;
  for (int64_t at = 0; at < run.length; at += int64_t(values.size())) {
    const auto some =
        std::span(values).first(size_t(std::min<int64_t>(values.size(), run.length - at)));
    inputs.read(tensor, run.index + at * run.step, run.step, some);
    const int64_t first = run.offset + at * run.stride - begin;
    if (run.stride == 1) {
      store_all(dtype, bytes, first, some);
    } else {
      for (size_t i = 0; i < some.size(); ++i)
        store(dtype, bytes, first + int64_t(i) * run.stride, some[i]);
    }
  }
}

}  // namespace

int64_t offset_of(const TensorSpec& spec, int64_t index) {
  int64_t offset = 0;
  for (size_t d = spec.shape.size(); d-- > 0;) {
    offset += index % spec.shape[d] * spec.strides[d];
    index /= spec.shape[d];
  }
  return offset;
}

bool is_plain(const TensorSpec& spec) {
  int64_t step = 1;
  for (size_t d = spec.shape.size(); d-- > 0; step *= spec.shape[d])
    if (spec.shape[d] > 1 && spec.strides[d] != step) return false;
  return true;
}

int64_t bytes_of(const TensorSpec& spec) { return int64_t(bytes_for(spec.dtype, spec.span)); }

Status each_part(const Elements& inputs, size_t tensor, int64_t elements, const TakePart& take) {
  constexpr int64_t kAtOnce = 1 << 16;  // elements that a thread makes
  const TensorSpec& spec = inputs.spec(tensor);
  const MemoryOrder order(spec);
  std::vector<char> bytes;
  for (int64_t first = 0; first < order.elements(); first += elements) {
    const int64_t last = std::min(order.elements(), first + elements);
    const int64_t begin = order.offset(first);
    const int64_t end = last == order.elements() ? spec.span : order.offset(last);
    bytes.resize(bytes_for(spec.dtype, end - begin));
    if (end - begin > last - first) std::fill(bytes.begin(), bytes.end(), char(0xff));
    in_parallel(last - first, kAtOnce, [&](int64_t from, int64_t until) {
      order.each_run(first + from, first + until,
                     [&](const Run& run) { write_run(inputs, tensor, run, bytes.data(), begin); });
    });
    const Status taken = take(int64_t(bytes_for(spec.dtype, begin)), bytes);
    if (!taken) return taken;
  }
  return Status::ok();
}

void Results::read(size_t tensor, int64_t first, int64_t step, std::span<double> to) const {
  const TensorSpec& spec = workload_.tensors[tensor];
  const char* const bytes = bytes_[tensor].data();
  if (is_plain(spec)) return load_all(spec.dtype, bytes, first, step, to);
  for (double& value : to) {
    value = load(spec.dtype, bytes, offset_of(spec, first));
    first += step;
  }
}

bool Results::gaps_are_intact(size_t tensor) const {
  const TensorSpec& spec = workload_.tensors[tensor];
  if (spec.span == count(spec.shape)) return true;
  // With the elements themselves put back to what was there.
  std::vector<char> between = bytes_[tensor];
  for (int64_t i = 0; i < count(spec.shape); ++i)
    store_bits(spec.dtype, between.data(), offset_of(spec, i), ~uint64_t(0));
  return std::all_of(between.begin(), between.end(), [](char byte) { return byte == char(0xff); });
}

}  // namespace ridge::harness
