#include "kernels/matrix_copy/family.h"

namespace ridge::matrix_copy {

void Family::reference(const Case&, std::vector<HostTensor>& t) const { t[1].values = t[0].values; }

}  // namespace ridge::matrix_copy
