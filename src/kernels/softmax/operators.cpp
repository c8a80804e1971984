#include "operator/description.h"

namespace ridge::softmax {

static OperatorDef forward(const std::string& name, const std::string& formula) {
  return {.name = name,
          .formula = formula,
          .dimensions = {{"rows"}, {"cols"}},
          .tensors =
              {{.name = "x", .shape = "rows..., cols", .formats = kFloats, .layout = Layout::rows},
               {.name = "out",
                .role = Role::out,
                .shape = "rows..., cols",
                .like = "x",
                .layout = Layout::rows,
                .may_be = {"x"}}},
          .backward = name + "_backward",
          .header = "ridge/softmax.h",
          .notes =
              "Along rows, computed in f32. A NaN or inf makes its row NaN, and so does a row "
              "of nothing but -inf."};
}

static OperatorDef backward(const std::string& of, const std::string& formula) {
  return {.name = of + "_backward",
          .formula = formula,
          .dimensions = {{"rows"}, {"cols"}},
          .tensors = {{.name = "y",
                       .shape = "rows..., cols",
                       .formats = kFloats,
                       .layout = Layout::rows,
                       .meaning = "what " + of + " gave"},
                      {.name = "dy",
                       .shape = "rows..., cols",
                       .like = "y",
                       .layout = Layout::rows,
                       .meaning = "the gradient of y"},
                      {.name = "dx",
                       .role = Role::out,
                       .shape = "rows..., cols",
                       .like = "y",
                       .layout = Layout::rows,
                       .may_be = {"y", "dy"},
                       .meaning = "the gradient of x"}},
          .aliases = {of + "_bwd"},
          .header = "ridge/softmax.h",
          .notes = "Along rows, computed in f32."};
}

// In the order of softmax::Op.
Operators operators() {
  return {forward("softmax", "out = exp(x - max) / sum exp(x - max)"),
          forward("log_softmax", "out = x - max - log sum exp(x - max)"),
          backward("softmax", "dx = y * (dy - sum y dy)"),
          backward("log_softmax", "dx = dy - exp(y) * sum dy")};
}

}  // namespace ridge::softmax
