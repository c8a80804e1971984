// Where a tensor's elements lie in memory: what is uploaded, and what comes back.
#pragma once

#include <functional>
#include <vector>

#include "core/status.h"
#include "ladder/elements.h"

namespace ridge::harness {

// Where element `index`, counted in the order of the shape, lies.
int64_t offset_of(const TensorSpec& spec, int64_t index);
// Whether the order of the shape is that of the memory, without gaps.
bool is_plain(const TensorSpec& spec);
int64_t bytes_of(const TensorSpec& spec);

// Makes the memory of an input in parts of so many elements, so that the host never holds all of
// it. Each part is passed on with the byte at which it starts; the first error ends this. Memory
// between the elements is poison. Not for formats whose elements share bytes.
using TakePart = std::function<Status(int64_t at, std::span<const char> bytes)>;
Status each_part(const Elements& inputs, size_t tensor, int64_t elements, const TakePart& take);

// Tensors as they came back from the device. Tensors that are not compared are empty.
class Results : public Elements {
 public:
  Results(const Workload& workload, std::vector<std::vector<char>> bytes)
      : workload_(workload), bytes_(std::move(bytes)) {}
  const TensorSpec& spec(size_t tensor) const override { return workload_.tensors[tensor]; }
  void read(size_t tensor, int64_t first, int64_t step, std::span<double> to) const override;
  // Whether nothing was written between the elements of a tensor that held poison.
  bool gaps_are_intact(size_t tensor) const;

 private:
  const Workload& workload_;
  std::vector<std::vector<char>> bytes_;
};

}  // namespace ridge::harness
