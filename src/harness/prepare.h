// A case that is ready to be verified: its inputs, and what is known about its results.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare.h"
#include "harness/device.h"
#include "harness/inputs.h"
#include "ladder/ladder.h"

namespace ridge::harness {

// A case whose inputs and truth are made once, for all contestants. If the reference is cheap, the
// case has a complete one. A larger case has samples, if its family can compute single elements;
// its inputs are on the device only.
struct Prepared {
  const Ladder* ladder = nullptr;
  Case c;
  Workload workload;
  std::unique_ptr<MadeInputs> made;
  Proof proof;  // of an exact case, if its family has one

  // Of a small case.
  std::vector<HostTensor> tensors;       // outputs hold the reference
  std::vector<std::vector<char>> bytes;  // inputs, as they lie in memory

  // Of a large one.
  std::vector<std::vector<Sample>> samples;  // of each tensor; none of inputs
  std::vector<DeviceBuffer> pristine;        // inputs; empty buffers in place of outputs

  bool is_sampled() const { return tensors.empty(); }
};
Expected<Prepared> prepare(const Ladder& ladder, const Case& c);

// For a small case: where truth_at and the reference of the family differ; empty if they agree.
std::string truth_against_reference(const Prepared& prepared);

// The cost of a reference, in elements made and operations done. At the bound, making and computing
// take 0.2 to 0.7 seconds of one core (erf and exp take longest), and each comparison 0.05 seconds.
constexpr double kMostReferenceWork = double(1 << 24);
double reference_work(const Workload& workload);

// What samples cost, in operations done and elements made for them: at the bound about 0.7 seconds
// of one core, and less where there are several.
constexpr double kMostSampledWork = double(1 << 28);

// How a case is verified.
struct Means {
  int64_t samples = 0;  // elements of outputs that are looked at; 0: all, by the reference
  bool proof = false;   // and there is a proof for exact inputs
};
// Nothing, if the case is too large for a reference and its family offers nothing else.
std::optional<Means> means_for(const Ladder& ladder, const Case& c);
// The same case with whole numbers, for which there is a proof.
Case exact_case(const Case& c);

}  // namespace ridge::harness
