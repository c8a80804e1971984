// Where a tensor's elements lie in memory: what is uploaded, and what comes back.
#pragma once

#include <vector>

#include "harness/device.h"
#include "ladder/elements.h"

namespace ridge::harness {

// Where element `index`, counted in the order of the shape, lies.
int64_t offset_of(const TensorSpec& spec, int64_t index);
// Whether the order of the shape is that of the memory, without gaps.
bool is_plain(const TensorSpec& spec);
int64_t bytes_of(const TensorSpec& spec);

// An input's memory, made part by part, so that the host never holds it whole. What lies between
// the elements is poison. Not for formats whose elements share bytes.
Status upload_made(const Elements& inputs, size_t tensor, DeviceBuffer& to);

// Tensors as they came back from the device; those that nobody looks at are empty.
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
