// A climb as people read it: one table per operator and size.
#pragma once

#include <string>

#include "climb_merge.h"

namespace ridge::tools {

struct TableOptions {
  bool software = false;      // of the software GPU: without times, instructions are shown
  bool instructions = false;  // shown beside modelled times, too
  bool from_record = false;   // not of this run: the title says where it was measured
};
void print_climb(const MergedClimb& merged, const TableOptions& options);

// A bound of the model in words: "L1 and shared memory" for "l1_shared".
std::string bound_words(const std::string& bound);
// "modelled for NVIDIA H200, ± 18 %", "measured on NVIDIA H200"; empty for a climb without times.
std::string origin_words(const MergedClimb& merged);

}  // namespace ridge::tools
