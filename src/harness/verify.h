// Runs a contestant on a case and holds it against the float64 reference.
#pragma once

#include <string>

#include "harness/contestant.h"
#include "harness/device.h"
#include "ladder/ladder.h"

namespace ridge::harness {

enum class Verdict : uint8_t { right, wrong, unsupported, failed };

struct Verification {
  Verdict verdict = Verdict::right;
  std::string message;  // what is wrong, or why it is unsupported
  double worst = 0;     // the largest error, in tolerances
};

// A case with its inputs and reference made once, for all rungs.
struct Prepared {
  const Ladder* ladder = nullptr;
  Case c;
  Workload workload;
  std::vector<HostTensor> tensors;          // outputs hold the reference
  std::vector<std::vector<double>> inputs;  // of inout tensors, before the reference changed them
};
Prepared prepare(const Ladder& ladder, const Case& c);

// What a reference costs, in elements made and operations done; beyond the bound a case is checked
// at a smaller size.
constexpr double kMostReferenceWork = double(1 << 23);
double reference_work(const Workload& workload);

// How far element `index` of a reference may be missed.
double tolerance_of(const HostTensor& tensor, int64_t index);

// Where a contestant wants a tensor of its case.
Memory memory_of(const TensorSpec& spec, bool pageable);

Verification verify(const Prepared& prepared, const Contestant& contestant);

std::string case_text(const Case& c);  // "softmax f16 31x33 misaligned by 1"

}  // namespace ridge::harness
