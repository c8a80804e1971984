// The lists of rivals, one function a library.
#pragma once

#include "harness/rival.h"

namespace ridge::rivals {

void add_cub(std::vector<harness::Rival>& rivals);
void add_cublas(std::vector<harness::Rival>& rivals);

}  // namespace ridge::rivals
