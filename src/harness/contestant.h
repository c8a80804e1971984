// Anything that can do a case: one of our rungs, a function of a library, a function of a user. The
// harness treats all of them alike: it verifies and times them in the same way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ladder/ladder.h"

namespace ridge::harness {

struct Contestant {
  std::string name;
  std::string idea = {};  // of a rung
  bool rival = false;     // not ours
  bool pageable = false;  // wants host tensors in ordinary memory
  // Why it cannot do this call; nothing: it can.
  std::function<std::string(const Case&, const Call&)> refuses;
  std::function<Expected<size_t>(const Call&)> workspace;
  // Enqueues, and nothing else.
  std::function<Status(const Call&, const Workspace&, cudaStream_t)> launch;
};

// With a variant, that variant of the rung. kChosen: what the public API does.
Contestant contestant_of(const Ladder& ladder, int rung, const DeviceInfo& device,
                         int variant = -1);

// Libraries of rivals export `ridge_rivals`, and are loaded if they were built. The contestants
// that a library has for an operator are added to the list.
using RivalsFunction = void (*)(const OperatorDef& op, std::vector<Contestant>* rivals);
constexpr const char* kRivalsSymbol = "ridge_rivals";

}  // namespace ridge::harness
