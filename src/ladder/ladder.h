// Any ladder, seen from outside: what the public API, tests, benchmarks and the command line use.
// It knows no type of any family; LadderOf (ladder/family.h) makes one from typed rungs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ladder/case.h"
#include "ladder/elements.h"
#include "ladder/rung.h"
#include "ridge/workspace.h"

namespace ridge {

// A tensor on the host. Values lie without padding.
struct HostTensor {
  TensorSpec spec;
  std::vector<double> values;
  std::vector<double> magnitude = {};  // what errors are relative to; empty: |values|
  int64_t elements() const { return count(spec.shape); }
};

struct RungInfo {
  std::string name;
  std::string idea;
  Claims claims;
  bool pageable = false;
};

constexpr int kChosen = -1;  // as a rung: the one that selection takes

class Ladder {
 public:
  virtual ~Ladder() = default;
  std::string family;   // the folder: "softmax"
  std::string summary;  // one line
  std::string unit;     // of its rate: "GB/s" or "TFLOP/s"
  std::vector<const OperatorDef*> operators;
  std::vector<RungInfo> rungs;

  // Cases, completed.
  virtual std::vector<Case> tests() const = 0;    // small, odd, edge; each runs on the software GPU
  virtual std::vector<Case> timings() const = 0;  // real sizes; the first is the one a climb shows
  virtual Case tour() const = 0;                  // small enough for the software GPU

  // Whether the family can do a completed case; what it says fits the command line.
  virtual Status check(const Case&) const = 0;
  virtual Workload workload(const Case&) const = 0;
  // For inputs with a structure that no Fill has: element `index` of tensor `tensor`. Where the
  // first element has none, no other is asked for.
  virtual std::optional<double> input(const Case&, size_t tensor, int64_t index) const = 0;
  // Reads inputs, writes outputs (and magnitudes): the float64 truth.
  virtual void reference(const Case&, std::vector<HostTensor>&) const = 0;
  // The same of one element, for cases that are too large for all of them. None where the family
  // cannot say it of this case; then it cannot of any element.
  virtual std::optional<Truth> truth_at(const Case&, const Elements& inputs, size_t tensor,
                                        int64_t index) const = 0;
  // Of a case whose workload is exact: finds a wrong element wherever it is. Empty: there is none.
  // The inputs must live as long as the proof does.
  virtual Proof proof(const Case&, const Elements& inputs) const = 0;
  // The call that a case is. `kept` holds what it points to.
  virtual Call call(const Case&, const Workload&, std::span<void* const> tensors,
                    struct KeptCall& kept) const = 0;

  // Of a checked call: see operator/call.h. With kChosen, as the public API does it.
  virtual Support supports(int rung, const Call&, const DeviceInfo&) const = 0;
  virtual Expected<size_t> workspace(int rung, const Call&, const DeviceInfo&) const = 0;
  virtual Status launch(int rung, const Call&, const Workspace&, const DeviceInfo&,
                        cudaStream_t) const = 0;

  // One launch that a call is made of, as selection saw it.
  struct Choice {
    const Ladder* ladder = nullptr;  // another one where the call was handed over
    std::vector<Candidate> candidates;
    int chosen = -1;
    // This launch alone, by any rung of `ladder` that supports it. The call's tensors are not asked
    // again: they may be gone.
    std::function<Status(int rung, const Workspace&, const DeviceInfo&, cudaStream_t)> launch = {};
  };
  virtual Expected<std::vector<Choice>> choices(const Call&, const DeviceInfo&) const = 0;
};

struct KeptCall {
  std::vector<Tensor> views;
  std::vector<Tensor> parts;  // what the calls of the group point to
  std::vector<Call> group;
};

// Checks a call against its description, then does it or, where the workspace asks for that, says
// how much of one it takes. This is what every public function of an operator does.
// `name` stands in front of what is said; none: the operator's.
Status run(Call& call, const Workspace& workspace, cudaStream_t stream, const char* name = nullptr);

}  // namespace ridge
