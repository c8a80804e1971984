// A ladder without kernels, and tensors in host memory: what the harness's host side is tested on.
#pragma once

#include <vector>

#include "ladder/ladder.h"

namespace ridge::harness {

class FakeLadder : public Ladder {
 public:
  std::optional<double> (*input_of)(size_t tensor, int64_t index) = nullptr;

  std::vector<Case> tests() const override { return {}; }
  std::vector<Case> timings() const override { return {}; }
  Case tour() const override { return {}; }
  std::vector<Case> tuning(int, uint64_t, bool) const override { return {}; }
  Status check(const Case&) const override { return Status::ok(); }
  Workload workload(const Case&) const override { return {}; }
  std::optional<double> input(const Case&, size_t tensor, int64_t index) const override {
    return input_of ? input_of(tensor, index) : std::nullopt;
  }
  void reference(const Case&, std::vector<HostTensor>&) const override {}
  std::optional<Truth> truth_at(const Case&, const Elements&, size_t, int64_t) const override {
    return std::nullopt;
  }
  Proof proof(const Case&, const Elements&) const override { return {}; }
  Call call(const Case&, const Workload&, std::span<void* const>, KeptCall&) const override {
    return Call(*operators.front());
  }
  Support supports(int, const Call&, const DeviceInfo&) const override { return {}; }
  Expected<size_t> workspace(int, const Call&, const DeviceInfo&) const override {
    return size_t(0);
  }
  Status launch(int, const Call&, const Workspace&, const DeviceInfo&,
                cudaStream_t) const override {
    return Status::ok();
  }
  std::optional<Terms> terms(int, const Call&, const DeviceInfo&) const override {
    return std::nullopt;
  }
  Expected<std::vector<Choice>> choices(const Call&, const DeviceInfo&) const override {
    return std::vector<Choice>();
  }
};

class HostElements : public Elements {
 public:
  explicit HostElements(const Workload& workload) : workload_(workload) {
    for (const TensorSpec& spec : workload.tensors)
      values.emplace_back(size_t(count(spec.shape)), 0.0);
  }
  const TensorSpec& spec(size_t tensor) const override { return workload_.tensors[tensor]; }
  void read(size_t tensor, int64_t first, int64_t step, std::span<double> to) const override {
    for (double& x : to) {
      x = values[tensor].at(size_t(first));
      first += step;
    }
  }
  std::vector<std::vector<double>> values;

 private:
  Workload workload_;
};

}  // namespace ridge::harness
