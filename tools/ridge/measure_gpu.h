// Measures the figures of the GPU at hand (`ridge device --measure`).
#pragma once

#include <string>

#include "core/status.h"

namespace ridge::tools {

// Runs bench/model/measure.py, which writes the record to `file`; empty: a name made from the
// card's. The exit code is in the status.
Status measure_gpu(const std::string& file);

// The name for --gpu that a card gets if nobody gives it another: "rtx4090".
std::string key_of(const std::string& name);

}  // namespace ridge::tools
