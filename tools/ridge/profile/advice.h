// Why a line is slow and what to do about it. Every fix was tried on the accesses and counters that
// were seen: the advice says which counter it moves, from what to what, and how much of the
// kernel's time that saves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/gpu_spec.h"
#include "profile/model.h"
#include "profile/time.h"

namespace ridge::tools::profile {

enum class Kind : uint8_t {
  uncoalesced,
  unused_bytes,
  misaligned,
  bank_conflict,
  atomic,
  divergence,
  redundant,
  register_tile,
  local,
  spills,
  doubles,
  functions,
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
  Work less = {};       // work that the fix takes away; what it adds is below zero
  double saves = 0;     // of the kernel's time, 0 to 1
  double saves_us = 0;  // of a launch, if its time was modelled
};

// A kernel with what the model of time says about it.
struct Case {
  const Kernel& kernel;
  const GpuSpec& gpu;
  std::vector<Work> works;  // of each instruction
  Work all;
  Spread spread;
  double time;  // cycles

  Case(const Kernel& kernel, const GpuSpec& gpu);
  // The part of the time that is saved if there were so much less to do.
  double saved(const Work& less) const;
  // The same, if it were spread over the GPU in another way.
  double saved(const Spread& other) const;
  const Work& work(const Instruction& one) const;
};

// The most rewarding first. What would save less than 5 % of the kernel's time is left out.
std::vector<Advice> advise(const Kernel& kernel, const GpuSpec& gpu);

// Parts of it, one file each.
void advise_global(const Case& of, std::vector<Advice>& out);
void advise_shared(const Case& of, std::vector<Advice>& out);
void advise_atomics(const Case& of, std::vector<Advice>& out);
void advise_arithmetic(const Case& of, std::vector<Advice>& out);
void advise_launch(const Case& of, std::vector<Advice>& out);

// "98 % of its instructions are inside powf", where a line calls such functions.
std::string functions_on(const Case& of, const Line& line);

// What they share.
Advice about(const Instruction& one, Kind kind);
std::string times(double factor);            // "8×", "1.5×"
uint64_t scaled(uint64_t count, double by);  // rounded
constexpr double kWorthSaying = 1.1;         // a counter, in times of what it would be

// The one sentence that matters.
std::string verdict(const Kernel& kernel, const std::vector<Advice>& advice, const GpuSpec& gpu);

}  // namespace ridge::tools::profile
