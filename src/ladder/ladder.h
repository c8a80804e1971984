// Any ladder, seen from outside: what tests, benchmarks and the command line loop over. A family's
// cases.cpp makes one of these from its typed rungs with `erase`.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge {

// One operator at one size.
struct Case {
  int op = 0;  // index into Ladder::operators
  Dtype dtype = Dtype::f32;
  std::vector<int64_t> shape;
  uint64_t seed = 1;
  int misalignment = 0;   // elements that each tensor starts past a 256-byte boundary
  int skew = 0;           // more of them for each tensor after the first
  int64_t padding = 0;    // elements between the rows of its matrices
  bool specials = false;  // NaN, infinities, -0 and subnormals among the inputs
};
std::string shape_text(std::span<const int64_t> shape);  // "8192x50257"

enum class Role : uint8_t { in, out, inout };

enum class Fill : uint8_t {
  uniform,     // -1 … 1
  positive,    // 0.1 … 1.1
  spread,      // -8 … 8: reaches both ends of an activation
  small_ints,  // -4 … 4, so that sums of any order are exact
  index,       // 0 … limit - 1
  bytes,       // 0 … 255
  zero,
};

struct TensorSpec {
  const char* name;
  Dtype dtype = Dtype::f32;
  std::vector<int64_t> shape;  // rows are `padding` apart where there are two dimensions or more
  Role role = Role::in;
  Fill fill = Fill::uniform;
  int64_t limit = 0;  // of Fill::index
  // An output passes if |got - reference| <= (rounding * u(dtype) + arithmetic * u(f32)) *
  // magnitude, u being the unit roundoff, plus `rounding` of the format's least number. Both 0: bit
  // for bit.
  double rounding = 1;
  double arithmetic = 1;
  bool on_host = false;  // in host memory: pinned, or pageable where the rung wants that
};

struct Cost {
  double read = 0, written = 0;  // bytes that must move, each once
  double flops = 0;
  // Over the link to the host, both ways at once: where there are any, the bound is the slowest of
  // the two and the kernel.
  double to_device = 0, to_host = 0;
};

// What a case needs, before any memory is touched.
struct Workload {
  std::vector<TensorSpec> tensors;
  Cost cost;
};

// A tensor on the host. Values lie without padding.
struct HostTensor {
  TensorSpec spec;
  std::vector<double> values;
  std::vector<double> magnitude;  // what errors are relative to; empty: |values|
  int64_t elements() const;
};

struct RungInfo {
  std::string name;
  std::string idea;
  Claims claims;
  bool pageable = false;
};

class Ladder {
 public:
  virtual ~Ladder() = default;
  std::string family;                  // the folder: "softmax"
  std::string summary;                 // one line
  std::vector<std::string> operators;  // names on the command line: "softmax", "log_softmax"
  std::vector<Dtype> dtypes;
  std::string shape_help;     // "rows x columns"
  std::string unit = "GB/s";  // of its rate: or "TFLOP/s"
  std::vector<RungInfo> rungs;

  std::vector<Case> tests;    // small, odd, edge; each runs on the software GPU in CI
  std::vector<Case> timings;  // real sizes; the first is the one a climb shows
  Case tour;                  // small enough for the software GPU

  virtual Status check(const Case&) const = 0;  // whether the shape and dtype make sense
  virtual Workload workload(const Case&) const = 0;
  // For inputs with a structure that no Fill has: element `index` of tensor `tensor`.
  virtual std::optional<double> input(const Case&, size_t /*tensor*/, int64_t /*index*/) const {
    return std::nullopt;
  }
  // Reads inputs, writes outputs (and magnitudes): the float64 truth.
  virtual void reference(const Case&, std::vector<HostTensor>&) const = 0;
  // `tensors` are device pointers in the order of the workload.
  virtual Support supports(int rung, const Case&, std::span<void* const> tensors,
                           const DeviceInfo&) const = 0;
  virtual size_t workspace(int rung, const Case&, std::span<void* const> tensors,
                           const DeviceInfo&) const = 0;
  virtual Status launch(int rung, const Case&, std::span<void* const> tensors, void* workspace,
                        size_t workspace_bytes, const DeviceInfo&, cudaStream_t) const = 0;
  // The rung that the public API would take, or -1; with all that were considered.
  virtual int choose(const Case&, std::span<void* const> tensors, const DeviceInfo&,
                     std::vector<Candidate>* candidates) const = 0;
};

// Every family in src/kernels/families.def.
std::span<const Ladder* const> all_ladders();

struct Operator {
  const Ladder* ladder = nullptr;
  int op = 0;
};
// By operator or family name; the family's name is its first operator.
Operator find_operator(std::string_view name);

}  // namespace ridge
