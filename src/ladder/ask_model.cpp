#include "ladder/ask_model.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "operator/check.h"
#include "ridge/vm_counters.h"
#include "select/device.h"
#include "select/select.h"

namespace ridge {
namespace {

template <class Function>
Function* software_gpu_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// Nothing: the model cannot be asked now, or the work failed.
template <class Work>
std::optional<double> modelled_us(Work work) {
  static const auto begin = software_gpu_function<int()>("ridge_vm_model_begin_alone");
  static const auto end = software_gpu_function<int(RidgeVmModelled*)>("ridge_vm_model_end");
  if (!begin || !end || !begin()) return std::nullopt;
  const Status done = work();
  const cudaError_t waited = cudaDeviceSynchronize();
  RidgeVmModelled modelled = {};
  end(&modelled);
  if (!done || waited != cudaSuccess) return std::nullopt;
  return modelled.us;
}

struct DeviceMemory {
  explicit DeviceMemory(size_t bytes) {
    if (cudaMalloc(&data, std::max<size_t>(bytes, 1)) != cudaSuccess) {
      (void)cudaGetLastError();  // it is not the caller's
      data = nullptr;
    }
  }
  ~DeviceMemory() { (void)cudaFree(data); }
  DeviceMemory(const DeviceMemory&) = delete;
  void* data = nullptr;
};

// The call with copies of all that it writes.
class Trial {
 public:
  Trial(const Call& call, const std::vector<const TensorDef*>& written) : call_(call) {
    const std::vector<TensorDef>& defs = call.op().tensors;
    for (size_t t = 0; t < defs.size(); ++t) {
      if (!call.tensors[t]) continue;
      tensors_[t] = *call.tensors[t];
      call_.tensors[t] = &tensors_[t];
    }
    for (size_t t = 0; t < defs.size(); ++t)
      if (call.tensors[t] && std::ranges::find(written, &defs[t]) != written.end())
        copy(*call.tensors[t]);
  }
  bool is_ready() const { return is_ready_; }
  const Call& call() const { return call_; }

 private:
  // Inputs that lie in the same memory move with it.
  void copy(const Tensor& tensor) {
    if (!is_ready_ || tensor.elements() == 0) return;
    constexpr uintptr_t kSlack = 256;  // so that the copy is aligned like the original
    const ops::Range range = ops::range_of(tensor);
    const size_t bytes = range.end - range.begin;
    memory_.push_back(std::make_unique<DeviceMemory>(bytes + kSlack));
    char* const base = static_cast<char*>(memory_.back()->data);
    is_ready_ = base != nullptr;
    if (!is_ready_) return;
    char* const to = base + range.begin % kSlack;
    is_ready_ = cudaMemcpy(to, reinterpret_cast<const void*>(range.begin), bytes,
                           cudaMemcpyDefault) == cudaSuccess;
    for (size_t t = 0; t < call_.op().tensors.size(); ++t) {
      if (!call_.tensors[t]) continue;
      const auto at = reinterpret_cast<uintptr_t>(tensors_[t].data);
      if (at >= range.begin && at < range.end) tensors_[t].data = to + (at - range.begin);
    }
  }

  Call call_;
  std::array<Tensor, kMostTensors> tensors_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
  bool is_ready_ = true;
};

std::string form_of(const Call& call, const DeviceInfo& device) {
  std::string form = call.op().name + " " + std::to_string(device.major) + "." +
                     std::to_string(device.minor) + " " + std::to_string(device.sm_count);
  const auto add = [&](auto value) { form += " " + std::to_string(value); };
  for (size_t t = 0; t < call.op().tensors.size(); ++t) {
    form += ";";
    const Tensor* const tensor = call.tensors[t];
    if (!tensor) continue;
    add(int(tensor->dtype));
    add(reinterpret_cast<uintptr_t>(tensor->data) % 128);
    for (int d = 0; d < tensor->rank; ++d) {
      add(tensor->shape[size_t(d)]);
      add(tensor->strides[size_t(d)]);
    }
  }
  for (size_t p = 0; p < call.op().parameters.size(); ++p) {
    add(call.parameters[p].number);
    add(call.parameters[p].integer);
  }
  return form;
}

bool is_close_call(const Ladder::Choice& choice) {
  return std::ranges::count_if(choice.candidates, [&](const Candidate& candidate) {
           return is_close(candidate, choice.candidates, choice.chosen);
         }) > 1;
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess)
    return status != cudaStreamCaptureStatusNone;
  (void)cudaGetLastError();
  return true;
}

// Tries the rungs of each launch that are close.
std::vector<AskedRung> try_rungs(const Ladder& ladder, const Call& call, const DeviceInfo& device) {
  const auto choices = ladder.choices(call, device);
  if (!choices || std::ranges::none_of(*choices, is_close_call)) return {};
  std::vector<const TensorDef*> written;
  for (const TensorDef& tensor : call.op().tensors)
    if (tensor.role != Role::in) written.push_back(&tensor);
  const Trial trial(call, written);
  const auto tried = ladder.choices(trial.call(), device);
  if (!trial.is_ready() || !tried || tried->size() != choices->size()) return {};
  const auto workspace_bytes = ladder.workspace(kChosen, call, device);
  if (!workspace_bytes) return {};
  const DeviceMemory workspace(*workspace_bytes);
  if (!workspace.data) return {};
  std::vector<AskedRung> all;
  for (const Ladder::Choice& launch : *tried) {
    AskedRung asked = {launch.chosen, std::vector<double>(launch.candidates.size())};
    for (size_t r = 0; is_close_call(launch) && r < launch.candidates.size(); ++r) {
      if (!is_close(launch.candidates[r], launch.candidates, launch.chosen)) continue;
      const auto us = modelled_us([&] {
        return launch.launch(int(r), {workspace.data, *workspace_bytes}, device, nullptr);
      });
      if (!us) return {};
      asked.modelled_us[r] = *us;
      const double least = asked.modelled_us[size_t(asked.rung)];
      if (least == 0 || *us < least) asked.rung = int(r);
    }
    all.push_back(std::move(asked));
  }
  return all;
}

}  // namespace

std::vector<AskedRung> ask_model(const Ladder& ladder, const Call& call, const DeviceInfo& device,
                             cudaStream_t stream) {
  const std::vector<TensorDef>& tensors = call.op().tensors;
  const bool can_be_tried =
      call.group.empty() && std::ranges::none_of(tensors, [&](const TensorDef& tensor) {
        return tensor.on_host || (tensor.role != Role::in && tensor.scaled);
      });
  if (!is_software_gpu() || !can_be_tried) return {};
  static std::mutex mutex;
  static std::map<std::string, std::vector<AskedRung>> known;
  const std::string form = form_of(call, device);
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(form); found != known.end()) return found->second;
  // The inputs have to be there.
  if (is_captured(stream) || cudaStreamSynchronize(stream) != cudaSuccess) return {};
  return known[form] = try_rungs(ladder, call, device);
}

}  // namespace ridge
