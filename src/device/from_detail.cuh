// Names of include/ridge/detail that kernels use without saying detail::. The code lies there,
// because users get it too, with ridge/reduce.cuh and ridge/scan.cuh; this is a list of names.
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
