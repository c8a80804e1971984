#include "operator/description.h"

namespace ridge::dropout {
namespace {

OperatorDef described(bool backward) {
  const std::string in = backward ? "dy" : "x", out = backward ? "dx" : "y";
  OperatorDef op = {
      .name = backward ? "dropout_backward" : "dropout",
      .formula = out + " = " + in + " / (1 - probability) where kept, else 0",
      .dimensions = {{"n", "elements, in any shape"}},
      .tensors = {{.name = in, .shape = "n...", .formats = kFloats},
                  {.name = out, .role = Role::out, .shape = "n...", .like = in, .may_be = {in}}},
      .parameters = {{.name = "probability",
                      .otherwise = 0.5,
                      .least = 0,
                      .most = 1,
                      .meaning = "share that is dropped"},
                     {.name = "seed",
                      .type = ParameterType::integer,
                      .meaning = "of the random numbers"},
                     {.name = "offset",
                      .type = ParameterType::integer,
                      .meaning = "another one for every call of a step"}},
      .header = "ridge/elementwise.h",
      .notes =
          "No mask is stored: whether element i, counted with the last dimension fastest, is "
          "dropped follows from seed, offset and i (Philox4x32-7), whatever the strides. "
          "Backward takes the probability, seed and offset that forward took."};
  if (backward) op.aliases = {"dropout_bwd"};
  else op.backward = "dropout_backward";
  return op;
}

}  // namespace

Operators operators() { return {described(false), described(true)}; }

}  // namespace ridge::dropout
