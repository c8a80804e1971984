// What people read of a climb beside the times themselves: rates, shares of the roof, steps from
// rung to rung. The table in the terminal and the page show the same numbers.
#pragma once

#include <string>
#include <vector>

#include "climb_record.h"

namespace ridge::tools {

// A step may have a time of each kind.
enum class Origin { measured, modelled };

struct Reading {
  double us = 0;                   // 0: there is no such time
  double low_us = 0, high_us = 0;  // measured: the quartiles; modelled: the band
  double half_width() const { return us > 0 ? (high_us - low_us) / 2 / us : 0; }
};
Reading reading_of(const Step& step, Origin origin);
bool has_any(const Climb& climb, Origin origin);

double rate_of(const Climb& climb, double us);  // in climb.unit

// Operations per second, of the kind that the case does; 0: not known.
double peak_for(const Climb& climb, const ladders::RoofsAnswer& roofs);

struct Numbers {
  Reading time;
  double rate = 0;     // in climb.unit
  double of_roof = 0;  // a share; 0: no roof is known
  double before = 0;   // how many times faster than the rung before it; 0: there is none
};
// One for each step, in their order.
std::vector<Numbers> numbers_of(const Climb& climb, Origin origin,
                                const ladders::RoofsAnswer& roofs);

const Step* fastest_rung(const Climb& climb, Origin origin);  // nullptr: none has such a time
// The rival that our fastest rung beats by the least; nullptr: none was timed.
const Step* best_rival(const Climb& climb);

// "± 12 %", or "± 12 – 25 %" where the bands of the steps differ.
std::string band_text(const Climb& climb);

}  // namespace ridge::tools
