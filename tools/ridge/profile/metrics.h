// Our counters under Nsight Compute's names, where the meaning is the same.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "profile/model.h"

namespace ridge::tools::profile {

inline constexpr auto kLoad = Action::load, kStore = Action::store, kRed = Action::reduction,
                      kAtom = Action::atomic;

struct Metric {
  const char* name;
  // Nothing: it cannot be known from PTX and addresses (machine code, caches, time).
  std::optional<double> (*of)(const Kernel& kernel);
};
std::span<const Metric> all_metrics();  // in the order of the CSV's columns
// Those of them that tell of tensor cores, matrices, the copy engine, clusters and textures.
std::span<const Metric> unit_metrics();

// A counter of all instructions of one kind; of those that move 8 by 8 matrices.
double sum(const Kernel& kernel, Reach reach, Action action, uint64_t Counters::*field);
double matrices(const Kernel& kernel, Action action, uint64_t Counters::*field);

std::string to_csv(const Profile& profile);  // one row per kernel

}  // namespace ridge::tools::profile
