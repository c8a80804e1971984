// Packs (sixteen bytes per lane) for kernels. The code lies in include/, because ridge/reduce.cuh
// gives it to users.
#pragma once

#include "ridge/detail/pack.cuh"

namespace ridge {

using detail::elements_to_alignment;
using detail::is_pack_aligned;
using detail::kPackBytes;
using detail::kPackSize;
using detail::load_pack;
using detail::load_pack_anywhere;
using detail::Pack;
using detail::store_pack;

}  // namespace ridge
