// What holds a launch up, in one short sentence for people.
#pragma once

#include <string>

#include "model/figures.h"
#include "model/sm.h"
#include "model/work.h"

namespace ridge::model {

// "8 KB in flight per SM, 18 KB needed" for the bound `latency`.
std::string why(const std::string& bound, const SmTime& sm, const Work& work,
                const Figures& figures);

}  // namespace ridge::model
