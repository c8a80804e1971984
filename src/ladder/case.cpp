#include "ladder/case.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "core/text.h"
#include "operator/check.h"

namespace ridge {
namespace {

[[noreturn]] void no_such(const Case& c, std::string_view what) {
  std::fprintf(stderr, "ridge: a case of %s has no '%.*s'\n", c.def ? c.def->name.c_str() : "?",
               int(what.size()), what.data());
  std::abort();
}

bool is_pack(const OperatorDef& op, size_t dimension) {
  for (const TensorDef& tensor : op.tensors)
    for (const Extent& e : tensor.pattern)
      if (e.pack && size_t(e.dimension) == dimension) return true;
  return false;
}
bool is_named_by_a_tensor(const OperatorDef& op, size_t dimension) {
  for (const TensorDef& tensor : op.tensors)
    for (const Extent& e : tensor.pattern)
      if (e.dimension == int(dimension)) return true;
  return false;
}

// Whether a shape of `given` numbers lacks only dimensions at its end that have a default.
bool ends_in_defaults(const OperatorDef& op, size_t given) {
  return given < op.dimensions.size() &&
         std::all_of(op.dimensions.begin() + int64_t(given), op.dimensions.end(),
                     [](const DimensionDef& d) { return d.has_default(); });
}

// Of an operator whose dimensions are outer..., length, inner...: which number of the shape is the
// length. Nothing for other operators.
std::optional<int64_t> axis_of(const Case& c) {
  const OperatorDef& op = *c.def;
  if (op.parameter_index("axis") < 0 || op.dimensions.size() != 3) return std::nullopt;
  if (!is_pack(op, 0) || is_pack(op, 1) || !is_pack(op, 2)) return std::nullopt;
  const int64_t axis = c.integer("axis");
  return axis < 0 ? axis + int64_t(c.shape.size()) : axis;
}

// How many numbers of the shape each dimension takes; nothing where they are too few or too many.
std::vector<int> numbers_per_dimension(const Case& c) {
  const OperatorDef& op = *c.def;
  const size_t all = op.dimensions.size(), given = c.shape.size();
  if (const auto axis = axis_of(c)) return {int(*axis), 1, int(given) - 1 - int(*axis)};
  std::vector<int> numbers(all, 1);
  std::vector<size_t> packs;
  for (size_t d = 0; d < all; ++d)
    if (is_pack(op, d)) packs.push_back(d);
  if (packs.size() == 1 && given + 1 >= all && !ends_in_defaults(op, given)) {
    numbers[packs[0]] = int(given - (all - 1));
    return numbers;
  }
  if (packs.size() == 2 && given + 1 == all) {
    numbers[packs[1]] = 0;
    return numbers;
  }
  if (given > all) return {};
  for (size_t d = given; d < all; ++d) {
    if (!op.dimensions[d].has_default()) return {};
    numbers[d] = 0;
  }
  return numbers;
}

Dtype format_of(const Case& c, const OperatorDef& op, size_t t) {
  const TensorDef& def = op.tensors[t];
  for (const auto& [name, dtype] : c.formats)
    if (name == def.name) return dtype;
  if (def.like_index >= 0) {
    const Dtype like = format_of(c, op, size_t(def.like_index));
    return def.derived ? def.derived(like) : like;
  }
  if (const int usual = op.tensor_index(def.usually_like); usual >= 0)
    return format_of(c, op, size_t(usual));
  return &def.formats == &main_formats(op) ? c.dtype : def.formats.front();
}

Status check_shape(const Case& c, const OperatorDef& op) {
  if (const auto axis = axis_of(c); axis && (*axis < 0 || *axis >= int64_t(c.shape.size())))
    return Error{2, "axis is " + std::to_string(c.integer("axis")) + ", but the shape " +
                        shape_text(c.shape) + " has " + std::to_string(c.shape.size()) +
                        (c.shape.size() == 1 ? " dimension" : " dimensions")};
  const std::vector<int> numbers = numbers_per_dimension(c);
  if (numbers.empty() && !op.dimensions.empty()) {
    const size_t wanted = op.dimensions.size();
    return Error{2, op.name + " takes a shape of " + std::to_string(wanted) +
                        (wanted == 1 ? " number" : " numbers") + " (" + shape_help(op) + "), not " +
                        shape_text(c.shape)};
  }
  if (std::any_of(c.shape.begin(), c.shape.end(), [](int64_t n) { return n < 0; }))
    return Error{2, "a shape has no negative numbers: " + shape_text(c.shape)};
  for (const TensorDef& tensor : op.tensors) {
    int rank = 0;
    for (const Extent& e : tensor.pattern) rank += e.pack ? numbers[size_t(e.dimension)] : 1;
    if (rank > kMaxRank)
      return Error{2, tensor.name + " would have " + std::to_string(rank) +
                          " dimensions; at most " + std::to_string(kMaxRank) + " are possible"};
  }
  return Status::ok();
}

Status check_same(const Case& c, const OperatorDef& op) {
  for (const auto& [out, in] : c.same) {
    const TensorDef* const tensor = op.tensor(out);
    if (!tensor) return Error{2, op.name + " has no tensor '" + out + "'"};
    if (std::find(tensor->may_be.begin(), tensor->may_be.end(), in) == tensor->may_be.end())
      return Error{2, out + " cannot be " + in + " itself"};
  }
  return Status::ok();
}

Status check_with(const Case& c, const OperatorDef& op) {
  for (const std::string& name : c.with) {
    const TensorDef* const tensor = op.tensor(name);
    if (tensor && tensor->on_request) continue;
    std::string known;
    for (const TensorDef& t : op.tensors)
      if (t.on_request) known += (known.empty() ? "" : ", ") + t.name;
    return Error{2, op.name + " has no tensor '" + name + "' on request" +
                        (known.empty() ? "" : "; it has " + known)};
  }
  return Status::ok();
}

// The size of a dimension that the shape leaves out, of those before it.
int64_t default_size(const Case& c, const DimensionDef& dimension,
                     const std::vector<int64_t>& known) {
  if (dimension.otherwise) return dimension.otherwise(known);
  std::vector<double> values;
  for (const ParameterDef& p : c.def->parameters) values.push_back(c.number(p.name));
  return dimension.otherwise_with(known, values);
}

void set_sizes(Case& c, const OperatorDef& op) {
  const std::vector<int> numbers = numbers_per_dimension(c);
  size_t at = 0;
  std::vector<int64_t> known;
  for (size_t d = 0; d < op.dimensions.size(); ++d) {
    int64_t size = 1;
    c.sizes.pack_rank[d] = numbers[d];
    for (int i = 0; i < numbers[d]; ++i) {
      c.sizes.pack[d][size_t(i)] = c.shape[at];
      size *= c.shape[at++];
    }
    if (numbers[d] == 0 && op.dimensions[d].has_default())
      size = default_size(c, op.dimensions[d], known);
    c.sizes.size[d] = size;
    known.push_back(size);
    if (!is_named_by_a_tensor(op, d) && op.parameter_index(op.dimensions[d].name) >= 0) {
      std::erase_if(c.parameters, [&](const auto& p) { return p.first == op.dimensions[d].name; });
      c.parameters.emplace_back(op.dimensions[d].name, double(size));
    }
  }
}

}  // namespace

int64_t Case::size(std::string_view dimension) const {
  const int d = def ? def->dimension_index(dimension) : -1;
  if (d < 0) no_such(*this, dimension);
  return sizes.size[size_t(d)];
}
double Case::number(std::string_view parameter) const {
  const int p = def ? def->parameter_index(parameter) : -1;
  if (p < 0) no_such(*this, parameter);
  for (const auto& [name, value] : parameters)
    if (name == parameter) return value;
  return def->parameters[size_t(p)].otherwise;
}
Dtype Case::format(std::string_view tensor) const {
  const int t = def ? def->tensor_index(tensor) : -1;
  if (t < 0) no_such(*this, tensor);
  return format_of(*this, *def, size_t(t));
}
bool Case::has(std::string_view tensor) const {
  return std::find(with.begin(), with.end(), tensor) != with.end();
}
bool Case::is_distributed(std::string_view wanted) const {
  if (!distribution.empty()) return distribution == wanted;
  return def && !def->distributions.empty() && def->distributions.front() == wanted;
}

Status complete(Case& c, const OperatorDef& op) {
  c.def = &op;
  if (const Status s = check_shape(c, op); !s) return s;
  const Formats& formats = main_formats(op);
  if (std::find(formats.begin(), formats.end(), c.dtype) == formats.end())
    return Error{2, op.name + " has no " + name_of(c.dtype) + "; it has " + names_of(formats)};
  for (const auto& [name, dtype] : c.formats) {
    const TensorDef* tensor = op.tensor(name);
    if (!tensor) return Error{2, op.name + " has no tensor '" + name + "'"};
    if (tensor->formats.empty())
      return Error{2, name + " has the format that follows from " + tensor->like};
    if (std::find(tensor->formats.begin(), tensor->formats.end(), dtype) == tensor->formats.end())
      return Error{
          2, name + " cannot be " + name_of(dtype) + "; it can be " + names_of(tensor->formats)};
  }
  for (const auto& [name, value] : c.parameters)
    if (op.parameter_index(name) < 0) return Error{2, op.name + " has no parameter '" + name + "'"};
  if (const Status s = check_with(c, op); !s) return s;
  if (const Status s = check_same(c, op); !s) return s;
  const auto& known = op.distributions;
  if (!c.distribution.empty() &&
      std::find(known.begin(), known.end(), c.distribution) == known.end())
    return Error{2, op.name + " has no distribution '" + c.distribution + "'"};
  set_sizes(c, op);
  return Status::ok();
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string shape_help(const OperatorDef& op) {
  std::string text;
  for (const DimensionDef& d : op.dimensions) {
    std::string name = d.name;
    for (char& c : name) c = char(std::toupper(c));
    text += (text.empty() ? "" : "x") + name;
  }
  return text;
}

namespace {

// As it is given on the command line: a choice by its name.
std::string value_text(const OperatorDef* op, const std::string& parameter, double value) {
  const int index = op ? op->parameter_index(parameter) : -1;
  if (index >= 0) {
    const std::vector<std::string>& choices = op->parameters[size_t(index)].choices;
    if (value >= 0 && value < double(choices.size())) return choices[size_t(value)];
  }
  return number_text(value);
}

}  // namespace

std::string settings_text(const Case& c) {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  for (const std::string& name : c.with) add("with=" + name);
  for (const auto& [name, dtype] : c.formats) add(name + "=" + name_of(dtype));
  for (const auto& [name, value] : c.parameters)
    if (!c.def || c.def->dimension_index(name) < 0)
      add(name + "=" + value_text(c.def, name, value));
  if (!c.distribution.empty()) add("distribution=" + c.distribution);
  for (const std::string& name : c.transposed) add(name + "=transposed");
  for (const auto& [out, in] : c.same) add(out + "=" + in);
  return text;
}

int64_t count(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

std::string place(const TensorSpec& spec, int64_t index) {
  std::string text;
  for (size_t d = spec.shape.size(); d-- > 0;) {
    text = std::to_string(index % spec.shape[d]) + (text.empty() ? "" : ", ") + text;
    index /= spec.shape[d];
  }
  return spec.name + "[" + text + "]";
}

namespace {

// Rows of one stride, whatever the dimensions before them; elements of a row `step` apart.
void lay_out(TensorSpec& spec, const Case& c, size_t tensor, int row_dims) {
  const size_t rank = spec.shape.size();
  spec.strides.assign(rank, 0);
  std::vector<size_t> order(rank);  // of the dimensions in memory, outermost first
  for (size_t d = 0; d < rank; ++d) order[d] = d;
  if (rank >= 2 &&
      std::find(c.transposed.begin(), c.transposed.end(), spec.name) != c.transposed.end())
    std::swap(order[rank - 1], order[rank - 2]);
  const int64_t padding = c.padding + int64_t(tensor) * c.padding_skew;
  int64_t stride = c.step;
  for (size_t i = rank; i-- > 0;) {
    spec.strides[order[i]] = stride;
    stride *= spec.shape[order[i]];
    if (rank - i == size_t(row_dims) && rank > size_t(row_dims)) stride += padding;
  }
  spec.span = count(spec.shape) > 0 ? 1 : 0;
  for (size_t d = 0; d < rank && spec.span > 0; ++d)
    spec.span += (spec.shape[d] - 1) * spec.strides[d];
}

TensorSpec& found(std::vector<TensorSpec>& tensors, std::string_view name) {
  for (TensorSpec& t : tensors)
    if (t.name == name) return t;
  std::fprintf(stderr, "ridge: a workload has no tensor '%.*s'\n", int(name.size()), name.data());
  std::abort();
}

}  // namespace

TensorSpec& Workload::operator[](std::string_view name) { return found(tensors, name); }
const TensorSpec& Workload::operator[](std::string_view name) const {
  return found(const_cast<std::vector<TensorSpec>&>(tensors), name);
}
size_t Workload::home_of(size_t tensor) const {
  const std::string& same_as = tensors[tensor].same_as;
  return same_as.empty() ? tensor : size_t(&(*this)[same_as] - tensors.data());
}

Workload described_workload(const Case& c) {
  Workload workload;
  for (size_t t = 0; t < c.def->tensors.size(); ++t) {
    const TensorDef& def = c.def->tensors[t];
    if (def.on_request && !c.has(def.name)) continue;
    const Shape shape = shape_of(def.pattern, c.sizes);
    TensorSpec spec = {.name = def.name,
                       .dtype = format_of(c, *c.def, t),
                       .shape = {shape.size.begin(), shape.size.begin() + shape.rank},
                       .role = def.role,
                       .on_host = def.on_host};
    lay_out(spec, c, t, def.row_dims);
    workload.tensors.push_back(std::move(spec));
  }
  for (const auto& [out, in] : c.same) {
    TensorSpec& spec = workload[out];
    spec.same_as = in;
    spec.strides = workload[in].strides;
    spec.span = workload[in].span;
  }
  return workload;
}

Call call_of(const Case& c, const Workload& workload, std::span<void* const> pointers,
             std::vector<Tensor>& views) {
  views.resize(workload.tensors.size());
  Call call(*c.def);
  for (size_t t = 0; t < views.size(); ++t) {
    const TensorSpec& spec = workload.tensors[t];
    Tensor& view = views[t];
    view.data = pointers[workload.home_of(t)];
    view.dtype = spec.dtype;
    view.rank = int(spec.shape.size());
    std::copy(spec.shape.begin(), spec.shape.end(), view.shape.begin());
    std::copy(spec.strides.begin(), spec.strides.end(), view.strides.begin());
    call.set(spec.name, &view);
  }
  for (const auto& [name, value] : c.parameters) call.set(name, Value(value));
  return call;
}

}  // namespace ridge
