#include "core/text.h"
#include "operator/check.h"
#include "operator/description.h"
#include "ridge/elementwise.h"

namespace ridge::activation {
namespace {

// A function and the names of what ActivationParameters calls alpha and beta.
struct Row {
  Activation kind;
  const char* name;
  const char* value;  // f(x)
  const char* slope;  // f'(x)
  std::vector<ParameterDef> parameters = {};
  const char* notes = "";
};
std::vector<Row> rows() {
  const ParameterDef low = {.name = "low", .meaning = "the low end"};
  const ParameterDef high = {.name = "high", .not_under = "low", .meaning = "the high end"};
  return {
      {Activation::relu, "relu", "max(x, 0)", "(1 where x > 0, else 0)"},
      {Activation::leaky_relu,
       "leaky_relu",
       "x where x > 0, else slope x",
       "(1 where x > 0, else slope)",
       {{.name = "slope", .meaning = "slope below 0"}}},
      {Activation::hardtanh,
       "hardtanh",
       "min(max(x, low), high)",
       "(1 where low < x < high, else 0)",
       {low, high},
       "The ends themselves have no gradient; those of clip have one."},
      {Activation::clip,
       "clip",
       "min(max(x, low), high)",
       "(1 where low <= x <= high, else 0)",
       {low, high},
       "The ends themselves have a gradient; those of hardtanh have none."},
      {Activation::sigmoid, "sigmoid", "1 / (1 + exp(-x))", "sigmoid(x) sigmoid(-x)"},
      {Activation::tanh, "tanh", "tanh(x)", "(1 - tanh(x)^2)"},
      {Activation::gelu,
       "gelu",
       "x Phi(x)",
       "(Phi(x) + x phi(x))",
       {},
       "Phi is the distribution function of the standard normal distribution, phi its density."},
      {Activation::gelu_tanh,
       "gelu_tanh",
       "x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2",
       "gelu_tanh'(x)",
       {},
       "The approximation of gelu with tanh."},
      {Activation::silu, "silu", "x sigmoid(x)", "sigmoid(x) (1 + x sigmoid(-x))"},
      {Activation::elu,
       "elu",
       "x where x > 0, else alpha (exp(x) - 1)",
       "(1 where x > 0, else alpha exp(x))",
       {{.name = "alpha", .meaning = "minus the limit at -Inf"}}},
      {Activation::softplus,
       "softplus",
       "log(1 + exp(sharpness x)) / sharpness",
       "sigmoid(sharpness x)",
       {{.name = "sharpness", .least = 0, .above_least = true, .meaning = "how narrow the bend is"},
        {.name = "threshold", .meaning = "where sharpness x is above it, the result is x"}}},
  };
}

// What 0.01f stands for is 0.01.
double as_written(float x) { return std::stod(number_text(x)); }

OperatorDef described(const Row& row, bool backward) {
  const std::string name = row.name;
  OperatorDef op = {
      .name = backward ? name + "_backward" : name,
      .formula = backward ? std::string("dx = dy ") + row.slope : std::string("y = ") + row.value,
      .dimensions = {{"n", "elements, in any shape"}},
      .tensors = {{.name = "x", .shape = "n...", .formats = kFloats}},
      .parameters = row.parameters,
      .header = "ridge/elementwise.h",
      .distributions = {"spread", "every_number"},
      .notes = row.notes};
  const ActivationParameters defaults = default_parameters(row.kind);
  if (op.parameters.size() > 0) op.parameters[0].otherwise = as_written(defaults.alpha);
  if (op.parameters.size() > 1) op.parameters[1].otherwise = as_written(defaults.beta);
  if (backward) {
    op.tensors.push_back({.name = "dy", .shape = "n...", .like = "x"});
    op.aliases = {name + "_bwd"};
  } else {
    op.backward = name + "_backward";
  }
  op.tensors.push_back({.name = backward ? "dx" : "y",
                        .role = Role::out,
                        .shape = "n...",
                        .like = "x",
                        .may_be = {"x"}});
  if (backward) op.tensors.back().may_be.push_back("dy");
  return op;
}

}  // namespace

// In the order of enum Activation: forward, then backward.
Operators operators() {
  Operators all;
  for (const bool backward : {false, true})
    for (const Row& row : rows()) all.push_back(described(row, backward));
  return all;
}

}  // namespace ridge::activation
