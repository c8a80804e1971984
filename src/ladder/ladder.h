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
  std::vector<std::string> variants = {};  // Call::variant is an index of this list
  std::string fails_on = {};               // a distribution with which it is wrong; none: empty
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
  // What `ridge tune` times: sizes drawn from ranges, `count` for each format and transposition.
  // Those for the software GPU are small. None, if the family has nothing to tune.
  virtual std::vector<Case> tuning(int count, uint64_t seed, bool small) const = 0;

  // Whether the family can do a completed case; what it says fits the command line.
  virtual Status check(const Case&) const = 0;
  virtual Workload workload(const Case&) const = 0;
  // For inputs that no Fill can make: element `index` of tensor `tensor`. If it gives nothing for
  // the first element of a tensor, it is not called for the others.
  virtual std::optional<double> input(const Case&, size_t tensor, int64_t index) const = 0;
  // Reads inputs, writes outputs (and magnitudes): the float64 truth.
  virtual void reference(const Case&, std::vector<HostTensor>&) const = 0;
  // The same for one element, for cases that are too large for a reference. If the family cannot
  // say it for a case, it returns nothing, for every element.
  virtual std::optional<Truth> truth_at(const Case&, const Elements& inputs, size_t tensor,
                                        int64_t index) const = 0;
  // For a case whose workload is exact: finds a wrong element anywhere. Empty: there is none. The
  // inputs must live as long as the proof.
  virtual Proof proof(const Case&, const Elements& inputs) const = 0;
  // The call that a case is. `kept` holds what it points to.
  virtual Call call(const Case&, const Workload&, std::span<void* const> tensors,
                    struct KeptCall& kept) const = 0;

  // Of a checked call: see operator/call.h. With kChosen, workspace and launch do what the public
  // API does; supports is asked about rungs.
  virtual Support supports(int rung, const Call&, const DeviceInfo&) const = 0;
  virtual Expected<size_t> workspace(int rung, const Call&, const DeviceInfo&) const = 0;
  virtual Status launch(int rung, const Call&, const Workspace&, const DeviceInfo&,
                        cudaStream_t) const = 0;

  // What the time of the call's variant is made of; nothing, if the rung does not say it, or if
  // the call takes another number of launches than one.
  virtual std::optional<Terms> terms(int rung, const Call&, const DeviceInfo&) const = 0;

  // One launch that a call is made of, as selection saw it.
  struct Choice {
    const Ladder* ladder = nullptr;  // another one where the call was handed over
    std::vector<Candidate> candidates;
    int chosen = -1;
    // Does this launch alone, with any rung of `ladder` that supports it. It does not look at the
    // tensors of the call, which may be gone.
    std::function<Status(int rung, const Workspace&, const DeviceInfo&, cudaStream_t)> launch = {};
  };
  virtual Expected<std::vector<Choice>> choices(const Call&, const DeviceInfo&) const = 0;
};

struct KeptCall {
  std::vector<Tensor> views;
  std::vector<Tensor> parts;  // what the calls of the group point to
  std::vector<Call> group;
};

// Checks a call against its description. Then it does the call or, if the workspace asks for that,
// says how much workspace it needs. Every public function of an operator does this. Messages begin
// with `name`, or with the name of the operator.
Status run(Call& call, const Workspace& workspace, cudaStream_t stream, const char* name = nullptr);

}  // namespace ridge
