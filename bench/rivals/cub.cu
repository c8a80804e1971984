#include "rivals.h"

namespace ridge::rivals {

void add_cub(std::vector<harness::Rival>&) {}

}  // namespace ridge::rivals
