#include "operator/description.h"

namespace ridge::token_sampling {

Operators operators() {
  return {
      {.name = "sample",
       .formula =
           "tokens[r] = a column of logits[r], with probability softmax(logits / temperature)",
       .dimensions = {{"rows"}, {"cols", "the vocabulary"}},
       .tensors = {{.name = "logits",
                    .shape = "rows..., cols",
                    .formats = kFloats,
                    .layout = Layout::rows},
                   {.name = "tokens",
                    .role = Role::out,
                    .shape = "rows...",
                    .formats = {Dtype::i32},
                    .layout = Layout::contiguous}},
       .parameters =
           {{.name = "temperature",
             .otherwise = 1,
             .least = 0,
             .meaning = "divides the logits; 0: the most probable token"},
            {.name = "top_k",
             .type = ParameterType::integer,
             .otherwise = 0,
             .least = 0,
             .meaning = "keep that many of the most probable tokens; 0: all"},
            {.name = "top_p",
             .otherwise = 1,
             .least = 0,
             .most = 1,
             .meaning = "of these, keep the fewest that have this much of their probability"},
            {.name = "min_p",
             .otherwise = 0,
             .least = 0,
             .most = 1,
             .meaning = "of these, keep what has this share of the largest probability"},
            {.name = "seed", .type = ParameterType::integer, .meaning = "of the random numbers"},
            {.name = "offset",
             .type = ParameterType::integer,
             .meaning = "another one for every call of a step"}},
       .aliases = {"top_p_sampling", "min_p_sampling"},
       .distributions = {"random", "equal", "few_values", "peaked"},
       .notes = "Of equal logits, the lower column counts as more probable; -0 and 0 are equal. "
                "One token "
                "is kept at least. The same seed and offset give the same tokens (Philox4x32-7); "
                "docs/losses.md says how. A row with a NaN or +inf, or of nothing but -inf, has no "
                "distribution: its token is -1."}};
}

}  // namespace ridge::token_sampling
