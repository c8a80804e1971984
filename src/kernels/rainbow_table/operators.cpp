#include "operator/description.h"

namespace ridge::rainbow_table {

Operators operators() {
  return {
      {.name = "rainbow_table",
       .formula = "out[i] = FNV-1a of FNV-1a of … keys[i], `rounds` times",
       .dimensions = {{"n", "keys"}, {"rounds", "hashes of each key"}},
       .tensors =
           {{.name = "keys", .shape = "n", .formats = {Dtype::u32}, .layout = Layout::contiguous},
            {.name = "out",
             .role = Role::out,
             .shape = "n",
             .like = "keys",
             .layout = Layout::contiguous}},
       .parameters = {{.name = "rounds",
                       .type = ParameterType::integer,
                       .required = true,
                       .least = 0,
                       .most = std::numeric_limits<int32_t>::max(),
                       .meaning = "how often each key is hashed"}},
       .notes = "A hash is FNV-1a of the key's four bytes, the lowest first."}};
}

}  // namespace ridge::rainbow_table
