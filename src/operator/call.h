// One call of an operator: its tensors and parameters. All callers make one: the C++ functions, the
// C functions, tests, climbs and `explain`.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/status.h"
#include "operator/description.h"
#include "operator/shape.h"
#include "ridge/tensor.h"

namespace ridge {

// The value of a parameter: a number, or a whole number (flags are 0 or 1, choices their index).
struct Value {
  double number = 0;
  int64_t integer = 0;

  Value() = default;
  Value(double x) : number(x), integer(whole(x)) {}
  Value(int64_t x) : number(double(x)), integer(x) {}

 private:
  static int64_t whole(double x) { return x > -0x1p63 && x < 0x1p63 ? int64_t(x) : 0; }
};

class Call {
 public:
  // Parameters start with their defaults.
  explicit Call(const OperatorDef& op);
  // Tensors and parameters in the order of the description; a null tensor is one that is left out.
  Call(const OperatorDef& op, std::span<const Tensor* const> tensors,
       std::span<const Value> parameters);

  const OperatorDef& op() const { return *op_; }

  // By name. A name that the description lacks is a programmer's error and ends the process.
  const Tensor& operator[](std::string_view tensor) const;
  const Tensor* find(std::string_view tensor) const;  // null: left out
  double number(std::string_view parameter) const;
  int64_t integer(std::string_view parameter) const;
  bool flag(std::string_view parameter) const { return integer(parameter) != 0; }
  int64_t size(std::string_view dimension) const;  // after check_call

  void set(std::string_view tensor, const Tensor* value);
  void set(std::string_view parameter, Value value);

  std::array<const Tensor*, kMostTensors> tensors = {};
  std::array<Value, kMostParameters> parameters = {};
  Sizes sizes;
  // Calls of the same operator that are served together; this call then only holds them.
  std::span<const Call> group = {};
  int variant = -1;  // of the rung, for tests and tuning; -1: the one that the rung itself takes

 private:
  const OperatorDef* op_;
};

// Checks a call against its description: formats, shapes, layouts, overlaps, ranges of parameters.
// Fills in call.sizes. Messages begin with `name`.
//
// A call that was handed over has parts and views of tensors whose overlaps were checked already.
// They are not checked again, because less is known about parts than about the whole: two parts
// whose elements merely alternate would be refused.
enum class Overlaps : uint8_t { refused, checked_before };
Status check_call(Call& call, const char* name, Overlaps overlaps = Overlaps::refused);

}  // namespace ridge
