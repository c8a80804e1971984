#include "operator/description.h"

namespace ridge::reduce {

static const Formats kFloatsAndI32 = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32};

static Dtype widened(Dtype dtype) { return dtype == Dtype::i32 ? Dtype::i64 : dtype; }
static Dtype i64_of_any(Dtype) { return Dtype::i64; }

// One number of all elements. `result` makes its format; null: it has the format of x.
static OperatorDef whole(const std::string& name, const std::string& formula,
                         const Formats& formats, Dtype (*result)(Dtype), const std::string& notes) {
  return {.name = name,
          .formula = formula,
          .dimensions = {{"n", "elements, in any shape"}},
          .tensors = {{.name = "x", .shape = "n...", .formats = formats, .layout = Layout::dense},
                      {.name = "out",
                       .role = Role::out,
                       .shape = "1",
                       .like = "x",
                       .derived = result,
                       .derived_name = "the " + name}},
          .header = "ridge/reduce.h",
          .notes = notes};
}

static OperatorDef argmax() {
  OperatorDef op = whole("argmax", "out = index of the first maximum of x", kFloatsAndI32,
                         i64_of_any, "A NaN counts as the maximum. Of no elements: -1.");
  op.tensors[0].layout = Layout::contiguous;
  op.tensors[0].meaning = "elements are counted in the order of the shape";
  return op;
}

static OperatorDef dot() {
  OperatorDef op = whole("dot", "out = sum of x * y", kFloatsAndI32, widened, "Of no elements: 0.");
  op.tensors[1].derived_name = "the dot product";
  op.tensors.insert(
      op.tensors.begin() + 1,
      {.name = "y", .shape = "n...", .like = "x", .layout = Layout::dense, .strides_of = "x"});
  return op;
}

static OperatorDef count_equal() {
  OperatorDef op = whole("count_equal", "out = how many elements of x equal value", kFloatsAndI32,
                         i64_of_any, "Compared in f32, or in i32 where x is i32.");
  op.tensors[1].derived_name = "the count";
  op.parameters = {
      {.name = "value", .otherwise = 0, .meaning = "what is counted; a whole number for i32"}};
  return op;
}

// In the order of reduce::Kind.
Operators operators() {
  return {whole("sum", "out = sum of x", kFloatsAndI32, widened, "Of no elements: 0."),
          whole("max", "out = greatest element of x", kFloatsAndI32, nullptr,
                "A NaN is the result. Of no elements: -inf, or the least i32."),
          whole("min", "out = least element of x", kFloatsAndI32, nullptr,
                "A NaN is the result. Of no elements: inf, or the greatest i32."),
          whole("mean", "out = sum of x / n", kFloats, nullptr, "Of no elements: NaN."),
          whole("product", "out = product of x", kFloatsAndI32, widened,
                "Integers wrap around. Of no elements: 1."),
          argmax(),
          whole("norm_l1", "out = sum of |x|", kFloats, nullptr, "Of no elements: 0."),
          whole("norm_l2", "out = sqrt(sum of x * x)", kFloats, nullptr, "Of no elements: 0."),
          dot(),
          count_equal()};
}

}  // namespace ridge::reduce
