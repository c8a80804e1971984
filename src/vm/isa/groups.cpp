// The list of instruction groups: a new group is one line here and one file beside it.
#include "vm/isa/groups.h"

namespace ridge::vm {

std::span<const Group> groups() {
  static const Group all[] = {
      {"integer arithmetic", integer_rows()},
      {"bits and bytes", bit_rows()},
      {"extended precision", carry_rows()},
      {"logic and shifts", logic_rows()},
      {"comparison and selection", compare_rows()},
      {"floating point", float_rows()},
      {"floating-point comparison and sign", float_minmax_rows()},
      {"floating-point approximations", float_approx_rows()},
      {"half precision", half_rows()},
      {"conversion", convert_rows()},
      {"conversion to narrow formats", convert_narrow_rows()},
      {"data movement", move_rows()},
      {"loads and stores", memory_rows()},
      {"atomics", atomic_rows()},
      {"asynchronous copies", async_rows()},
      {"bulk stores", bulk_rows()},
      {"tensor copies", tensor_copy_rows()},
      {"tensor maps", tensor_map_rows()},
      {"asynchronous stores", store_async_rows()},
      {"asynchronous barriers", mbarrier_rows()},
      {"warp", warp_rows()},
      {"matrix products", mma_rows()},
      {"matrix products of whole tiles", wmma_rows()},
      {"matrix products of warpgroups", wgmma_rows()},
      {"matrix loads and stores", matrix_move_rows()},
      {"control and barriers", control_rows()},
      {"the stack", stack_rows()},
      {"video", video_rows()},
      {"textures", texture_rows()},
      {"surfaces", surface_rows()},
  };
  return all;
}

}  // namespace ridge::vm
