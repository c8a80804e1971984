#include "operator/description.h"

namespace ridge::match_redux {

Operators operators() {
  return {
      {.name = "match_redux",
       .formula = "counts[i] = how often keys[i] occurs among the 32 keys of its group",
       .dimensions = {{"n", "keys"}},
       .tensors =
           {{.name = "keys", .shape = "n", .formats = {Dtype::u32}, .layout = Layout::contiguous},
            {.name = "counts",
             .role = Role::out,
             .shape = "n",
             .like = "keys",
             .layout = Layout::contiguous},
            {.name = "most",
             .role = Role::out,
             .shape = "ceil(n/32)",
             .like = "keys",
             .layout = Layout::contiguous,
             .meaning = "the largest count of each group"}},
       .aliases = {"match_redux_distinct"},
       .distributions = {"few", "distinct"},
       .notes = "The last group may have fewer keys. Distributions for tests and climbs: keys "
                "drawn from 10, of which many are equal (few), or from 2^32, of which hardly any "
                "are (distinct)."}};
}

}  // namespace ridge::match_redux
