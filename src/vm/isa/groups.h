// One function per group file; each returns that file's table.
#pragma once

#include <span>

#include "vm/isa/form.h"

namespace ridge::vm {

std::span<const InstrDef> integer_rows();
std::span<const InstrDef> bit_rows();
std::span<const InstrDef> carry_rows();
std::span<const InstrDef> logic_rows();
std::span<const InstrDef> compare_rows();
std::span<const InstrDef> float_rows();
std::span<const InstrDef> float_minmax_rows();
std::span<const InstrDef> float_approx_rows();
std::span<const InstrDef> half_rows();
std::span<const InstrDef> convert_rows();
std::span<const InstrDef> convert_narrow_rows();
std::span<const InstrDef> move_rows();
std::span<const InstrDef> memory_rows();
std::span<const InstrDef> atomic_rows();
std::span<const InstrDef> async_rows();
std::span<const InstrDef> bulk_rows();
std::span<const InstrDef> tensor_copy_rows();
std::span<const InstrDef> tensor_map_rows();
std::span<const InstrDef> store_async_rows();
std::span<const InstrDef> mbarrier_rows();
std::span<const InstrDef> warp_rows();
std::span<const InstrDef> mma_rows();
std::span<const InstrDef> wmma_rows();
std::span<const InstrDef> wgmma_rows();
std::span<const InstrDef> matrix_move_rows();
std::span<const InstrDef> control_rows();
std::span<const InstrDef> stack_rows();
std::span<const InstrDef> video_rows();
std::span<const InstrDef> texture_rows();
std::span<const InstrDef> surface_rows();

}  // namespace ridge::vm
