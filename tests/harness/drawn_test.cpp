// Drawn cases: the same for the same seed, within their bound, and of all kinds.
#include "harness/drawn.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "fake_ladder.h"

namespace ridge::harness {
namespace {

OperatorDef described() {
  OperatorDef op = {.name = "scale",
                    .formula = "y = factor x",
                    .dimensions = {{"rows"}, {"cols"}},
                    .tensors = {{.name = "x",
                                 .shape = "rows..., cols",
                                 .formats = kFloats,
                                 .layout = Layout::rows},
                                {.name = "y",
                                 .role = Role::out,
                                 .shape = "rows..., cols",
                                 .like = "x",
                                 .layout = Layout::rows,
                                 .may_be = {"x"}},
                                {.name = "norm",
                                 .role = Role::out,
                                 .shape = "rows...",
                                 .formats = {Dtype::f32},
                                 .layout = Layout::contiguous,
                                 .optional = true,
                                 .on_request = true}},
                    .parameters = {{.name = "factor", .otherwise = 1, .least = 0, .most = 4}},
                    .distributions = {"plain", "large"}};
  for (TensorDef& tensor : op.tensors) tensor.pattern = parse_shape_pattern(op, tensor.shape);
  op.tensors[1].like_index = 0;
  return op;
}

class Scale : public FakeLadder {
 public:
  Scale() { operators = {&op_}; }
  std::vector<Case> tests() const override {
    Case c = {.shape = {3, 5}};
    EXPECT_TRUE(complete(c, op_));
    return {c};
  }
  Workload workload(const Case& c) const override { return described_workload(c); }
  Call call(const Case& c, const Workload& w, std::span<void* const> at,
            KeptCall& kept) const override {
    return call_of(c, w, at, kept.views);
  }

 private:
  OperatorDef op_ = described();
};

constexpr MostWork kMost = {.elements = 5000, .operations = 1e6};

TEST(Drawn, ASeedHasItsCase) {
  const Scale ladder;
  const DrawnCases one(ladder, {}, kMost), other(ladder, {}, kMost);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto a = one(seed), b = other(seed);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->seed, seed);
    EXPECT_EQ(a->shape, b->shape);
    EXPECT_EQ(settings_text(*a), settings_text(*b));
  }
}

TEST(Drawn, CasesAreOfAllKindsAndPossible) {
  const Scale ladder;
  const DrawnCases drawn(ladder, {}, kMost);
  constexpr int kCases = 500;
  std::map<std::string, int> seen;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    const auto c = drawn(seed);
    ASSERT_TRUE(c);
    int64_t elements = 0;
    for (const TensorSpec& tensor : ladder.workload(*c).tensors) elements += tensor.span;
    EXPECT_LE(elements, kMost.elements);
    EXPECT_GE(c->number("factor"), 0);
    EXPECT_LE(c->number("factor"), 4);
    seen["empty"] += count(c->shape) == 0;
    seen["in place"] += !c->same.empty();
    seen["padded"] += c->padding > 0;
    seen["shifted"] += c->misalignment > 0;
    seen["more dimensions"] += c->shape.size() > 2;
    seen["a single row"] += c->shape.size() == 1;
    seen["with a norm"] += c->has("norm");
    seen["another factor"] += c->number("factor") != 1;
    seen["large numbers"] += c->is_distributed("large");
    seen["two bytes"] += c->dtype != Dtype::f32;
    seen["wide"] += c->size("cols") > 300;
  }
  for (const auto& [kind, cases] : seen) EXPECT_GT(cases, kCases / 100) << kind;
}

}  // namespace
}  // namespace ridge::harness
