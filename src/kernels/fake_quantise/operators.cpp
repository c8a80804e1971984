#include "operator/description.h"

namespace ridge::fake_quantise {
namespace {

TensorDef rows(const char* name, Role role, std::vector<std::string> may_be = {}) {
  return {.name = name,
          .role = role,
          .shape = "rows..., cols",
          .like = "x",
          .layout = Layout::rows,
          .may_be = std::move(may_be)};
}

// kind: "", "_rows" or "_fp8".
OperatorDef described(const std::string& kind, bool back) {
  const bool is_fp8 = kind == "_fp8";
  const char* const shape = kind == "_rows" ? "rows..." : "1";
  OperatorDef op = {
      .name = "fake_quantise" + kind + (back ? "_backward" : ""),
      .formula = is_fp8 ? "t = x * (1 / scale), y = fp8(t) * scale"
                        : "q = clamp(round(x * (1 / scale)) + zero_point, low, high), "
                          "y = (q - zero_point) * scale",
      .dimensions = {{"rows"}, {"cols"}},
      .tensors = {
          {.name = "x", .shape = "rows..., cols", .formats = kFloats, .layout = Layout::rows}}};
  if (back)
    op.formula = is_fp8 ? "dx = dy where |x * (1 / scale)| <= the largest fp8, else 0"
                        : "dx = dy where round(x * (1 / scale)) + zero_point is in [low, high], "
                          "else 0";
  if (back) op.tensors.push_back(rows("dy", Role::in));
  op.tensors.push_back({.name = "scale",
                        .shape = shape,
                        .formats = {Dtype::f32},
                        .layout = Layout::contiguous,
                        .meaning = "positive"});
  if (is_fp8)
    op.parameters = {{.name = "format",
                      .type = ParameterType::choice,
                      .choices = {"e4m3", "e5m2"},
                      .meaning = "the fp8 format"}};
  else {
    op.tensors.push_back({.name = "zero_point",
                          .shape = shape,
                          .formats = {Dtype::i32},
                          .layout = Layout::contiguous,
                          .optional = true,
                          .on_request = true,
                          .meaning = "affine: what 0 becomes; left out: 0, symmetric"});
    op.parameters = {{.name = "low",
                      .type = ParameterType::integer,
                      .otherwise = -128,
                      .least = -65536,
                      .most = 65536,
                      .meaning = "the least integer"},
                     {.name = "high",
                      .type = ParameterType::integer,
                      .otherwise = 127,
                      .least = -65536,
                      .most = 65536,
                      .not_under = "low",
                      .meaning = "the largest integer"}};
  }
  if (back) op.tensors.push_back(rows("dx", Role::out, {"x", "dy"}));
  else op.tensors.push_back(rows("y", Role::out, {"x"}));
  if (!back) op.backward = "fake_quantise" + kind + "_backward";
  op.notes =
      kind == "_rows" ? "Every row has a scale of its own, as a channel of weights has. " : "";
  op.notes += back ? "A NaN of x has the gradient 0."
                   : "NaN stays NaN. Rounds to the nearest, a tie to the even one.";
  return op;
}

}  // namespace

// In the order of fake_quantise::Op.
Operators operators() {
  Operators all;
  for (const bool back : {false, true})
    for (const char* kind : {"", "_rows", "_fp8"}) all.push_back(described(kind, back));
  return all;
}

}  // namespace ridge::fake_quantise
