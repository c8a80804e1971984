// A case: one operator at one size, and all that makes it awkward.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arithmetic.h"
#include "core/status.h"
#include "operator/call.h"
#include "operator/description.h"

namespace ridge {

struct Case {
  int op = 0;                // among its family's operators
  Dtype dtype = Dtype::f32;  // of the first tensor whose format is free, and of those like it
  // Sizes of the operator's dimensions in their order. A pack may take several numbers, or none.
  std::vector<int64_t> shape;
  uint64_t seed = 1;
  int misalignment = 0;  // elements by which every tensor starts past a 256-byte boundary
  int skew = 0;          // each tensor starts this many further past it than the one before
  int64_t padding = 0;   // elements between the rows of every tensor with two dimensions or more
  int64_t padding_skew = 0;  // each tensor has this many more than the one before
  int64_t step = 1;          // elements from one to the next in a row
  bool specials = false;     // NaN, infinities, -0 and subnormals among the inputs
  // Small whole numbers as inputs, with which no sum is ever rounded: see Workload::exact.
  bool exact = false;
  // A climb on a GPU times the rung that the library takes, beside the rivals, and no other rung:
  // sizes at which only the library is of interest, or lessons would take too long.
  bool library_only = false;
  // Tensors whose last two dimensions have changed places in memory.
  std::vector<std::string> transposed = {};
  std::vector<std::pair<std::string, std::string>> same = {};  // {"out", "in"}: out is in itself
  std::vector<std::string> with = {};  // optional tensors that it has on request
  std::vector<std::pair<std::string, Dtype>> formats = {};      // of single tensors
  std::vector<std::pair<std::string, double>> parameters = {};  // others have their defaults
  std::string distribution = {};                                // of the inputs; none: the first

  // Set by `complete`.
  const OperatorDef* def = nullptr;
  Sizes sizes = {};

  // By name; after `complete`.
  int64_t size(std::string_view dimension) const;
  double number(std::string_view parameter) const;
  int64_t integer(std::string_view parameter) const { return int64_t(number(parameter)); }
  bool flag(std::string_view parameter) const { return number(parameter) != 0; }
  Dtype format(std::string_view tensor) const;
  bool is_distributed(std::string_view distribution) const;
  bool has(std::string_view tensor) const;  // whether it asks for a tensor that is there on request
};

// Checks a case against the description of its operator, and fills in what follows: sizes with a
// default, parameters that the shape gives. Its messages are made for the command line.
Status complete(Case& c, const OperatorDef& op);

std::string shape_text(std::span<const int64_t> shape);  // "8192x50257"
std::string shape_help(const OperatorDef& op);           // "ROWSxCOLS"
// What distinguishes a case beside shape and format: "alpha=2 distribution=random", or nothing.
std::string settings_text(const Case& c);

// Elements of a shape.
int64_t count(std::span<const int64_t> shape);
// The name of element `index` of a tensor, counted in the order of its shape, for messages: "y[3,
// 17]".
std::string place(const struct TensorSpec& spec, int64_t index);

enum class Fill : uint8_t {
  uniform,     // -1 … 1
  positive,    // 0.1 … 1.1
  spread,      // -8 … 8: reaches both ends of an activation
  small_ints,  // -4 … 4, so that sums of any order are exact
  counted,     // the same without 0, so that none of them can be left out unnoticed
  signs,       // -1, 0 or 1; one in `limit` is not 0
  index,       // 0 … limit - 1
  bytes,       // 0 … 255
  zero,
};

// A tensor of a case.
struct TensorSpec {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<int64_t> shape;
  Role role = Role::in;
  Fill fill = Fill::uniform;
  int64_t limit = 0;  // of Fill::index and Fill::signs
  // An output passes if |got - reference| <= (rounding * u(dtype) + arithmetic * u(f32)) *
  // magnitude, where u is the unit roundoff, plus `rounding` times the least number of the format.
  // If both are 0, results must be equal bit for bit.
  double rounding = 1;
  double arithmetic = 1;
  bool on_host = false;  // in host memory: pinned, or pageable where the rung wants that
  std::vector<int64_t> strides = {};  // in elements
  int64_t span = 0;                   // elements from the first to behind the last
  std::string same_as = {};           // of an output: the input that it is itself, if any
};

struct Cost {
  double read = 0, written = 0;  // bytes that must move, each once
  double flops = 0;
  Arithmetic arithmetic = Arithmetic::f32;  // the kind of these operations: what their roof is
  // Bytes over the link to the host, in both directions at once. If there are any, the bound is the
  // slowest of the two directions and the kernel.
  double to_device = 0, to_host = 0;
  // Operations for the truth of a single element of an output; 0: its share of all operations. For
  // a softmax, each element takes a whole row.
  double one_truth = 0;
};

// What a case needs, before any memory is touched.
struct Workload {
  std::vector<TensorSpec> tensors;  // in the order of the description, without those left out
  Cost cost;
  // The family has done what Case::exact asks for: results are whole multiples of a power of two,
  // whatever the order of the operations, and their format holds them without rounding.
  bool exact = false;

  TensorSpec& operator[](std::string_view name);
  const TensorSpec& operator[](std::string_view name) const;
  size_t home_of(size_t tensor) const;  // the tensor in whose memory it lies
};

// The tensors as the description has them, laid out as the case says. An optional tensor is there
// unless it is one that cases ask for and this one does not, or the case's family removes it.
Workload described_workload(const Case& c);

// The call that a case is, on these tensors. `views` keeps what the call points to.
Call call_of(const Case& c, const Workload& workload, std::span<void* const> pointers,
             std::vector<Tensor>& views);

}  // namespace ridge
