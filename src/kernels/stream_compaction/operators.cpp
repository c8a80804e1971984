#include "operator/description.h"

namespace ridge::stream_compaction {

Operators operators() {
  return {
      {.name = "compact",
       .formula = "out[0 ... count - 1] = the x[i] with flags[i] != 0, in their order",
       .dimensions = {{"n", "elements"}},
       .tensors =
           {{.name = "x",
             .shape = "n",
             .formats = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32, Dtype::u32, Dtype::u8},
             .layout = Layout::contiguous},
            {.name = "flags", .shape = "n", .formats = {Dtype::u8}, .layout = Layout::contiguous},
            {.name = "out",
             .role = Role::inout,
             .shape = "n",
             .like = "x",
             .layout = Layout::contiguous,
             .meaning = "elements behind the first `count` stay as they are"},
            {.name = "count",
             .role = Role::out,
             .shape = "1",
             .formats = {Dtype::i64},
             .layout = Layout::contiguous,
             .meaning = "how many were kept"}},
       .distributions = {"half", "few", "most", "all", "none", "runs"},
       .notes = "At most 2^32 - 1 elements. Distributions of the flags for tests and climbs: how "
                "many of them are set; runs of 1000 alike (runs)."}};
}

}  // namespace ridge::stream_compaction
