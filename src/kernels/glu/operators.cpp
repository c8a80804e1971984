#include "operator/description.h"

namespace ridge::glu {
namespace {

OperatorDef described(bool gelu, bool backward, bool packed) {
  const std::string base = std::string(gelu ? "geglu" : "swiglu") + (packed ? "_packed" : "");
  const std::string f = gelu ? "gelu" : "silu";
  const std::string apart = "rows..., cols", together = "rows..., 2*cols";
  const std::string halves = "first half: gates; second half: what they are multiplied with";
  OperatorDef op = {
      .name = backward ? base + "_backward" : base,
      .formula = backward ? "dgate = dy up " + f + "'(gate), dup = dy " + f + "(gate)"
                          : "y = " + f + "(gate) up",
      .dimensions = {{"rows", "rows, in any number of dimensions"}, {"cols", "columns of y"}},
      .header = "ridge/elementwise.h"};
  if (packed) {
    op.notes = "gate and up are the first and the second half of x's last dimension";
    op.notes += backward ? ", dgate and dup those of dx's." : ".";
    op.tensors = {{.name = "x", .shape = together, .formats = kFloats, .meaning = halves}};
  } else {
    op.tensors = {{.name = "gate", .shape = apart, .formats = kFloats},
                  {.name = "up", .shape = apart, .like = "gate"}};
  }
  const std::string first = op.tensors[0].name;
  std::vector<std::string> inputs =
      packed ? std::vector<std::string>{"x"} : std::vector<std::string>{"gate", "up"};
  const auto out = [&](const char* name, const std::string& shape, const char* meaning = "") {
    op.tensors.push_back({.name = name,
                          .role = Role::out,
                          .shape = shape,
                          .like = first,
                          .may_be = inputs,
                          .meaning = meaning});
  };
  if (!backward) {
    op.backward = base + "_backward";
    out("y", apart);
    return op;
  }
  op.aliases = {base + "_bwd"};
  op.tensors.push_back({.name = "dy", .shape = apart, .like = first});
  inputs.push_back("dy");
  if (packed) {
    out("dx", together, "first half: dgate; second half: dup");
  } else {
    out("dgate", apart);
    out("dup", apart);
  }
  return op;
}

}  // namespace

// swiglu and geglu; the same backward; all four packed.
Operators operators() {
  Operators all;
  for (const bool packed : {false, true})
    for (const bool backward : {false, true})
      for (const bool gelu : {false, true}) all.push_back(described(gelu, backward, packed));
  return all;
}

}  // namespace ridge::glu
