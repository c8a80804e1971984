// Which rung serves a call on the software GPU. The constants that selection predicts times with
// were measured on a GPU. Here, rungs whose predicted times are close are tried, and the one that
// the model of time (docs/model.md) finds fastest is taken. Trials compute on copies of the
// outputs.
#pragma once

#include <vector>

#include "ladder/ladder.h"

namespace ridge {

// Of one launch that a call is made of.
struct AskedRung {
  int rung = -1;
  std::vector<double> modelled_us;  // of each rung; 0: it was not tried
};

// One for each of the launches, in the order of Ladder::choices. Empty: the model cannot be asked,
// or there is nothing to ask, and the choice of selection holds. That is so on a GPU, while the
// stream is captured, and if several threads of the process use the device. The model is asked once
// for each call of a form: operator, formats, sizes, strides, alignment and parameters.
std::vector<AskedRung> ask_model(const Ladder& ladder, const Call& call, const DeviceInfo& device,
                             cudaStream_t stream);

}  // namespace ridge
