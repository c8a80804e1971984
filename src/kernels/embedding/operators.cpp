#include "operator/description.h"

namespace ridge::embedding {

Operators operators() {
  const std::vector<DimensionDef> dimensions = {
      {"tokens", "in any shape"}, {"vocab", "rows of the table"}, {"dim", "elements of a row"}};
  const TensorDef tokens = {.name = "tokens",
                            .shape = "tokens...",
                            .formats = {Dtype::i32},
                            .meaning = "each from 0 to vocab - 1: nothing checks that"};
  // The second: a third of the tokens are one and the same, as padding is.
  const std::vector<std::string> distributions = {"uniform", "padding"};
  const std::string notes =
      "Tokens have stride 1 in one dimension; each line along it takes one "
      "launch, unless lines follow one another.";
  return {{.name = "embedding",
           .formula = "out(..., :) = table(tokens(...), :)",
           .dimensions = dimensions,
           .tensors = {tokens,
                       {.name = "table",
                        .shape = "vocab, dim",
                        .formats = kFloats,
                        .layout = Layout::unit_last},
                       {.name = "out",
                        .role = Role::out,
                        .shape = "tokens..., dim",
                        .like = "table",
                        .layout = Layout::unit_last}},
           .backward = "embedding_backward",
           .header = "ridge/movement.h",
           .distributions = distributions,
           .notes = notes},
          {.name = "embedding_backward",
           .formula = "dtable(tokens(...), :) += dy(..., :)",
           .dimensions = dimensions,
           .tensors = {tokens,
                       {.name = "dy",
                        .shape = "tokens..., dim",
                        .formats = kFloats,
                        .layout = Layout::unit_last},
                       {.name = "dtable",
                        .role = Role::inout,
                        .shape = "vocab, dim",
                        .formats = {Dtype::f32},
                        .layout = Layout::unit_last,
                        .meaning = "added to"}},
           .aliases = {"embedding_bwd"},
           .header = "ridge/movement.h",
           .distributions = distributions,
           .notes = notes}};
}

}  // namespace ridge::embedding
