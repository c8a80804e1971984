#include "operator/description.h"

namespace ridge::vector_add_streamed {

Operators operators() {
  return {{.name = "vector_add_streamed",
           .formula = "out = a + b, from host memory to host memory",
           .dimensions = {{"n", "elements, in any shape"}},
           .tensors = {{.name = "a",
                        .shape = "n...",
                        .formats = {Dtype::f32},
                        .layout = Layout::contiguous,
                        .on_host = true},
                       {.name = "b",
                        .shape = "n...",
                        .like = "a",
                        .layout = Layout::contiguous,
                        .on_host = true},
                       {.name = "out",
                        .role = Role::out,
                        .shape = "n...",
                        .like = "a",
                        .layout = Layout::contiguous,
                        .on_host = true}},
           .notes =
               "Chunks are copied in, added and copied out at the same time, which takes pinned "
               "memory (cudaMallocHost); the workspace is on the device."}};
}

}  // namespace ridge::vector_add_streamed
