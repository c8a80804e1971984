#include "c_abi.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <string>

#include "core/number.h"
#include "harness/device.h"
#include "harness/inputs.h"
#include "ladder/ladder.h"
#include "select/device.h"

using namespace ridge;

struct RidgeBench {
  const Ladder* ladder;
  Case c;
  Workload workload;
  DeviceInfo device;
  int rung = -1;
};

namespace {

thread_local std::string last_error;

int fail(int code, std::string why) {
  last_error = std::move(why);
  return code;
}

std::span<void* const> tensors_of(const RidgeBench* bench, void* const* tensors) {
  return {tensors, bench->workload.tensors.size()};
}

}  // namespace

extern "C" {

const char* ridge_bench_error(void) { return last_error.c_str(); }

RidgeBench* ridge_bench_open(const char* operator_name, const char* dtype, const char* shape) {
  const Operator op = find_operator(operator_name);
  const auto format = parse_dtype(dtype);
  const auto device = current_device();
  if (!op.ladder || !format || !device) {
    fail(1, !op.ladder ? "no such operator" : !format ? "no such dtype" : device.error().message);
    return nullptr;
  }
  Case c = {.op = op.op, .dtype = *format, .shape = {}};
  for (const char* at = shape; *at;) {
    int64_t size = 0;
    const auto [next, error] = std::from_chars(at, shape + std::strlen(shape), size);
    if (error != std::errc()) break;
    c.shape.push_back(size);
    at = *next == 'x' ? next + 1 : next;
  }
  if (const Status s = op.ladder->check(c); !s) {
    fail(1, s.message());
    return nullptr;
  }
  return new RidgeBench{op.ladder, c, op.ladder->workload(c), *device};
}

void ridge_bench_close(RidgeBench* bench) { delete bench; }

int ridge_bench_tensors(const RidgeBench* bench) { return int(bench->workload.tensors.size()); }

int ridge_bench_tensor(const RidgeBench* bench, int index, RidgeBenchTensor* tensor) {
  const TensorSpec& spec = bench->workload.tensors[size_t(index)];
  *tensor = {spec.name, name_of(spec.dtype), int(spec.shape.size()), {}, int(spec.role)};
  for (size_t d = 0; d < spec.shape.size() && d < 8; ++d) tensor->shape[d] = spec.shape[d];
  return 0;
}

int ridge_bench_fill(const RidgeBench* bench, int index, void* host, int64_t elements) {
  const auto bytes =
      harness::input_bytes(*bench->ladder, bench->c, bench->workload, size_t(index), elements);
  std::memcpy(host, bytes.data(), bytes.size());
  return 0;
}

double ridge_bench_bytes(const RidgeBench* bench) {
  return bench->workload.cost.read + bench->workload.cost.written;
}

const char* ridge_bench_choose(RidgeBench* bench, void* const* tensors) {
  bench->rung = bench->ladder->choose(bench->c, tensors_of(bench, tensors), bench->device, nullptr);
  return bench->rung < 0 ? "" : bench->ladder->rungs[size_t(bench->rung)].name.c_str();
}

int64_t ridge_bench_workspace(RidgeBench* bench, void* const* tensors) {
  return int64_t(
      bench->ladder->workspace(bench->rung, bench->c, tensors_of(bench, tensors), bench->device));
}

int ridge_bench_launch(RidgeBench* bench, void* const* tensors, void* workspace, int64_t bytes,
                       void* stream) {
  const Status s =
      bench->ladder->launch(bench->rung, bench->c, tensors_of(bench, tensors), workspace,
                            size_t(bytes), bench->device, cudaStream_t(stream));
  return s ? 0 : fail(s.code(), s.message());
}

}  // extern "C"
