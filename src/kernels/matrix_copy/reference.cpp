#include "ladder/ladder.h"

namespace ridge::matrix_copy {

void reference(const Case&, std::vector<HostTensor>& t) { t[1].values = t[0].values; }

}  // namespace ridge::matrix_copy
