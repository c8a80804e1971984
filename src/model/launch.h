// How long a launch takes, between which limits, and what holds it up.
#pragma once

#include <string>
#include <vector>

#include "model/figures.h"
#include "model/sm.h"
#include "model/work.h"

namespace ridge::model {

struct Prediction {
  double us = 0, low_us = 0, high_us = 0;  // between two events, with a cold L2
  double launch_us = 0;                    // of that: an empty launch
  double share = 1;                        // of the GPU: what other streams do not get of it
  double clean_us = 0;  // from its start to its end, if a launch like it was the last to use the L2
  std::string bound;    // memory, l2, l1_shared, issue, fma, fp64, sfu, tensor,
                        // latency, idle, launch
  std::string why;      // what holds it up, in a few words
  bool checked = true;  // Figures::checked
  SmTime sm;            // of the SM that has the most blocks
  std::vector<std::string> notes;  // why the band is wider than usual

  double own_us() const { return us - launch_us; }  // from its start to its end
};

// `resident`: blocks that an SM holds at a time.
Prediction predict(const Work& work, const Figures& figures, int resident);

}  // namespace ridge::model
