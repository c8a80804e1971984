// Why a line is slow and what to do about it: computed from the addresses and the counters, with
// the counter that the fix moves and what it should then be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/gpu_spec.h"
#include "profile/bound.h"
#include "profile/model.h"

namespace ridge::tools::profile {

enum class Kind : uint8_t {
  uncoalesced,
  unused_bytes,
  misaligned,
  bank_conflict,
  atomic,
  divergence,
  redundant,
  local,
  spills,
  partial_warp,
  occupancy,
  idle_sms,
};
const char* name_of(Kind kind);  // "bank conflict"

struct Advice {
  Kind kind = Kind::uncoalesced;
  std::string file = {};  // empty: of the whole kernel, or of a PTX line
  uint32_t line = 0;      // 0: of the whole kernel
  Part part = Part::issue;
  std::string brief =
      {};  // ends a sentence that begins with the line: "moves 8× the bytes it uses"
  std::string reason = {};   // a sentence
  std::string fix = {};      // another
  const char* counter = "";  // that the fix moves
  uint64_t now = 0, then = 0;
  double saves = 0;  // cycles of an SM, to sort by
};

// The most rewarding first. What would save less than 2 % of the kernel is left out.
std::vector<Advice> advise(const Kernel& kernel, const GpuSpec& gpu);

// Parts of it: accesses to memory, one instruction at a time; and the kernel as a whole.
std::optional<Advice> advise_global(const Kernel& kernel, const Instruction& one);
std::optional<Advice> advise_shared(const Kernel& kernel, const Instruction& one);
std::optional<Advice> advise_atomic(const Kernel& kernel, const Instruction& one,
                                    const GpuSpec& gpu);
std::vector<Advice> advise_launch(const Kernel& kernel, const GpuSpec& gpu);

// The one sentence that matters.
std::string verdict(const Kernel& kernel, const std::vector<Advice>& advice, const GpuSpec& gpu);

}  // namespace ridge::tools::profile
