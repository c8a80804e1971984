// The description of an operator, which its family's operators.cpp gives once. Everything else
// about its interface is made from it: the checks of its arguments, its C function, the page of
// `ridge list`, the flags of `ridge climb`, the tensors of tests and rivals.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/dtype.h"

namespace ridge {

constexpr int kMostTensors = 20, kMostParameters = 12, kMostDimensions = 16;

enum class Role : uint8_t { in, out, inout };

// One size of a tensor's shape; operator/shape.h reads the notation.
struct Extent {
  int dimension = -1;  // of the operator; -1: a number, `plus`
  bool pack = false;   // any number of dimensions
  int64_t times = 1, over = 1, plus = 0;
  bool up = false;  // the division rounds up
  int64_t of(int64_t size) const {
    return dimension < 0 ? plus : (size * times + (up ? over - 1 : 0)) / over + plus;
  }
};
using ShapePattern = std::vector<Extent>;

// How a tensor may lie in memory.
enum class Layout : uint8_t {
  any,         // any strides
  contiguous,  // without gaps, the last dimension fastest
  dense,       // without gaps, its dimensions in any order
  rows,        // the last dimensions (TensorDef::row_dims of them) contiguous; those before them
               // merge to rows with one stride
  unit_last,   // the last dimension has stride 1
  matrix,      // one of its last two dimensions has stride 1
};

using Formats = std::vector<Dtype>;
inline const Formats kFloats = {Dtype::f32, Dtype::f16, Dtype::bf16};

struct TensorDef {
  std::string name;
  Role role = Role::in;
  std::string shape;  // in named sizes, "rows..., cols": see operator/shape.h
  // The formats it can have. None: the format of the tensor `like`, or what `derived` makes of it.
  Formats formats = {};
  std::string like = {};
  // With formats of its own: the tensor whose format a case gives it if it names none.
  std::string usually_like = {};
  Dtype (*derived)(Dtype) = nullptr;
  std::string derived_name = {};  // what follows: "the sum" in "the sum of i32 is i64"
  Layout layout = Layout::any;
  std::string strides_of = {};  // a tensor of the same shape whose strides it has to have
  bool optional = false;
  // Of an optional tensor: a case has it only if it asks for it, by Case::with or --with NAME.
  // Otherwise a case has it unless the family removes it.
  bool on_request = false;
  // For an output: the inputs that it may be itself, element for element. It must not overlap any
  // other input. If the last size of one tensor is a multiple of the other's, the other may be one
  // of its parts.
  std::vector<std::string> may_be = {};
  bool scaled = false;   // may have scales: ridge/block_scaled.h
  bool on_host = false;  // in host memory
  int row_dims = 1;      // trailing dimensions that make up a row, which padding follows
  std::string meaning = {};

  // Set by the registry: the shape, read, and the index of `like`.
  ShapePattern pattern = {};
  int like_index = -1;
};

enum class ParameterType : uint8_t { number, integer, flag, choice };

struct ParameterDef {
  std::string name;
  ParameterType type = ParameterType::number;
  double otherwise = 0;  // its default; of a choice: an index into `choices`
  bool required = false;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false, under_most = false;  // the end itself is not allowed
  std::string not_under = {};                    // another parameter, whose value is its least
  std::vector<std::string> choices = {};
  std::string meaning = {};
};

// A size that a case of the operator has: one that its tensors' shapes name, a parameter (its size
// is then the parameter's value), or one from which others follow.
struct DimensionDef {
  std::string name;
  std::string meaning = {};
  // The default size, made from the sizes that are given (by position). Without a default, the size
  // must be given.
  int64_t (*otherwise)(const std::vector<int64_t>& sizes) = nullptr;
  // The same where it follows from parameters, too (by position).
  int64_t (*otherwise_with)(const std::vector<int64_t>& sizes,
                            const std::vector<double>& parameters) = nullptr;

  bool has_default() const { return otherwise || otherwise_with; }
};

struct OperatorDef {
  std::string name;                      // on the command line, in C++, in C (as ridge_NAME)
  std::string formula;                   // one line
  std::vector<DimensionDef> dimensions;  // in the order of --shape
  std::vector<TensorDef> tensors;        // in the order of the arguments
  std::vector<ParameterDef> parameters = {};
  std::string backward = {};              // the operator of its gradients
  std::vector<std::string> aliases = {};  // names it had before
  // The public header with its own C++ function. Without one, ridge/operators.h has a generated
  // function.
  std::string header = {};
  // Named ways to fill its inputs; the first is the default.
  std::vector<std::string> distributions = {};
  std::string notes = {};  // for the pages: what the fields above do not say

  // Set by the registry.
  std::string family = {};
  int index = 0;  // among its family's operators

  const TensorDef* tensor(std::string_view wanted) const;
  int tensor_index(std::string_view wanted) const;     // or -1
  int parameter_index(std::string_view wanted) const;  // or -1
  int dimension_index(std::string_view wanted) const;  // or -1
};

using Operators = std::vector<OperatorDef>;

// The formats of the operator's main tensor: the first that has a choice of them and is not
// quantised. --dtype names one.
const Formats& main_formats(const OperatorDef& op);

// A list of formats for messages: "f32, f16, bf16".
std::string names_of(const Formats& formats);

}  // namespace ridge
