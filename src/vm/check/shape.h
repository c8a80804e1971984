// How the two accesses of a race are related: whether one statement reads a place, changes the
// value and writes it back; whether a value is written that was read from a neighbour's place;
// whether a read only decides if an atomic is worth while.
#pragma once

#include <optional>
#include <string>

#include "vm/check/listing.h"

namespace ridge::vm::check {

// A store that writes back what it read, changed: `*p += x`.
struct Update {
  uint32_t load = Listing::kNone;
  std::string atomic;  // "atomicAdd"; empty: no single atomic does it
  std::string value;   // "1", if it is a number
};
std::optional<Update> update_of(const Listing& listing, uint32_t store);

// Whether what `store` writes was computed from what `load` read.
bool is_computed_from(const Listing& listing, uint32_t store, uint32_t load);

// `if (*p > v) atomicMin(p, v)`: what the load finds only decides whether the atomic, which looks
// again, is executed.
bool is_looked_at_again(const Listing& listing, uint32_t load, uint32_t atomic);

// Whether what the load finds has a say in where control goes, as in a loop that waits for a flag.
bool decides_branch(const Listing& listing, uint32_t load);

// `if (found) *where = threadIdx.x`: only some threads, as their data say, get to the store, and
// what each stores is its own number, or one of the kernel's arguments.
bool is_claim(const Listing& listing, uint32_t store);

}  // namespace ridge::vm::check
