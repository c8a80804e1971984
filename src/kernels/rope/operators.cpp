#include "operator/description.h"
#include "ridge/elementwise.h"

namespace ridge::rope {
namespace {

using Numbers = std::vector<int64_t>;

std::vector<DimensionDef> dimensions() {
  return {{"batch", "sequences; in any number of dimensions, also none"},
          {"seq", "positions of a sequence"},
          {"heads", "heads of the queries"},
          {"dim", "numbers of a head; even, because they turn in pairs"},
          {.name = "kv_heads",
           .meaning = "heads of the keys; without it, one for four of the queries'",
           .otherwise = [](const Numbers& sizes) { return (sizes[2] + 3) / 4; }},
          {.name = "positions",
           .meaning = "rows of the table; without it, first_position + seq",
           .otherwise_with = [](const Numbers& sizes, const std::vector<double>& parameters) {
             return int64_t(parameters[1]) + sizes[1];
           }}};
}

std::vector<ParameterDef> parameters() {
  const RopeOptions defaults;
  return {{.name = "interleaved",
           .type = ParameterType::flag,
           .otherwise = double(defaults.interleaved),
           .meaning = "pair i is (2 i, 2 i + 1) of a head; else (i, i + dim / 2)"},
          {.name = "first_position",
           .type = ParameterType::integer,
           .otherwise = double(defaults.first_position),
           .least = 0,
           .most = 0x1p60,
           .meaning = "position of the first of seq"},
          {.name = "base",
           .otherwise = defaults.base,
           .least = 0,
           .above_least = true,
           .meaning = "of the angles, where there is no table"}};
}

OperatorDef described(bool backward) {
  const std::string q = backward ? "dq_out" : "q", k = backward ? "dk_out" : "k";
  const std::string queries = "batch..., seq, heads, dim", keys = "batch..., seq, kv_heads, dim";
  const TensorDef table = {.shape = "positions, dim/2",
                           .formats = {Dtype::f32},
                           .layout = Layout::unit_last,
                           .optional = true};
  const std::string gradients = backward ? "gradients of the turned " : "";
  const std::string turned = backward ? "gradients of the " : "turned ";
  OperatorDef op = {
      .name = backward ? "rope_backward" : "rope",
      .formula = backward ? "(da, db) turned back by position base^(-2 i / dim), pair i of a head"
                          : "(a, b) turned by position base^(-2 i / dim), pair i of a head",
      .dimensions = dimensions(),
      .tensors = {{.name = q,
                   .shape = queries,
                   .formats = kFloats,
                   .layout = Layout::unit_last,
                   .meaning = gradients + "queries"},
                  {.name = k,
                   .shape = keys,
                   .like = q,
                   .layout = Layout::unit_last,
                   .optional = true,
                   .meaning = gradients + "keys"},
                  table,
                  table,
                  {.name = backward ? "dq" : "q_out",
                   .role = Role::out,
                   .shape = queries,
                   .like = q,
                   .layout = Layout::unit_last,
                   .may_be = {q},
                   .meaning = turned + "queries"},
                  {.name = backward ? "dk" : "k_out",
                   .role = Role::out,
                   .shape = keys,
                   .like = q,
                   .layout = Layout::unit_last,
                   .optional = true,
                   .may_be = {k},
                   .meaning = turned + "keys"}},
      .parameters = parameters(),
      .header = "ridge/elementwise.h",
      .notes =
          "cos and sin are a table, for at least first_position + seq positions: much the "
          "faster way, and the only one for angles of another kind. Without it the kernel "
          "computes its own angles from base."};
  op.tensors[2].name = "cos";
  op.tensors[2].meaning = "of the angle of each position and pair";
  op.tensors[3].name = "sin";
  op.tensors[3].meaning = "of the same angles";
  if (backward) op.aliases = {"rope_bwd", "rope_interleaved_bwd"};
  else op.aliases = {"rope_interleaved"}, op.backward = "rope_backward";
  return op;
}

}  // namespace

Operators operators() { return {described(false), described(true)}; }

}  // namespace ridge::rope
