// From what the command line says of a case to the case.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "commands.h"
#include "core/number.h"

namespace ridge::ladders {
namespace {

constexpr int64_t kMostElements = int64_t(1) << 48;

Status check_elements(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements) ||
        elements > kMostElements)
      return Error{2, "'" + shape_text(shape) + "' is more than any memory holds"};
  return Status::ok();
}

Expected<std::vector<int64_t>> parse_shape(const std::string& text) {
  std::vector<int64_t> shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0) break;
    shape.push_back(size);
    if (const Status s = check_elements(shape); !s) return s.error();
    if (next == end) return shape;
    if (*next != 'x') break;
    at = next + 1;
  }
  return Error{2, "'" + text + "' is no shape: numbers with x between them, as in 8192x50257"};
}

Expected<Dtype> parse_format(const std::string& name, const OperatorDef& op, const Formats& known) {
  if (const auto dtype = parse_dtype(name)) return *dtype;
  return Error{2, "there is no dtype '" + name + "'; " + op.name + " has " + names_of(known)};
}

// "bf16" for all, or "a=bf16" for one tensor.
Status set_format(Case& c, const std::string& text, const OperatorDef& op) {
  const size_t equals = text.find('=');
  if (equals == text.npos) {
    const auto dtype = parse_format(text, op, main_formats(op));
    if (!dtype) return dtype.error();
    c.dtype = *dtype;
    return Status::ok();
  }
  const std::string name = text.substr(0, equals);
  const TensorDef* const tensor = op.tensor(name);
  if (!tensor) {
    std::string known;
    for (const TensorDef& t : op.tensors) known += (known.empty() ? "" : ", ") + t.name;
    return Error{2, op.name + " has no tensor '" + name + "'; it has " + known};
  }
  const auto dtype = parse_format(text.substr(equals + 1), op, tensor->formats);
  if (!dtype) return dtype.error();
  c.formats.emplace_back(name, *dtype);
  return Status::ok();
}

// Sizes by name replace those of the case, number by number.
Status set_sizes(Case& c, const std::vector<std::pair<std::string, std::string>>& named,
                 const OperatorDef& op) {
  std::vector<std::vector<int64_t>> numbers(op.dimensions.size());
  size_t last = 0;
  for (size_t d = 0; d < numbers.size(); ++d) {
    for (int i = 0; i < c.sizes.pack_rank[d]; ++i) numbers[d].push_back(c.sizes.pack[d][size_t(i)]);
    if (c.sizes.pack_rank[d] > 0) last = d;
  }
  for (const auto& [name, text] : named) {
    const int d = op.dimension_index(name);
    if (d < 0)
      return Error{2, op.name + " has no dimension '" + name + "'; it has " + shape_help(op)};
    const auto size = parse_shape(text);
    if (!size) return Error{2, "--" + name + ": '" + text + "' is no size"};
    numbers[size_t(d)] = *size;
    last = std::max(last, size_t(d));
  }
  c.shape.clear();
  for (size_t d = 0; d <= last; ++d) {
    if (numbers[d].empty() && op.dimensions[d].otherwise) numbers[d] = {c.sizes.size[d]};
    c.shape.insert(c.shape.end(), numbers[d].begin(), numbers[d].end());
  }
  return check_elements(c.shape);
}

Status set_value(Case& c, const std::string& name, const std::string& text, const OperatorDef& op) {
  const int p = op.parameter_index(name);
  if (p < 0) {
    std::string known;
    for (const ParameterDef& def : op.parameters) known += (known.empty() ? "" : ", ") + def.name;
    return Error{2, op.name + " has no parameter '" + name + "'" +
                        (known.empty() ? "" : "; it has " + known)};
  }
  const ParameterDef& def = op.parameters[size_t(p)];
  double value = 0;
  if (def.type == ParameterType::choice) {
    const auto found = std::find(def.choices.begin(), def.choices.end(), text);
    if (found == def.choices.end()) {
      std::string known;
      for (const std::string& choice : def.choices) known += (known.empty() ? "" : ", ") + choice;
      return Error{2, "--" + name + " cannot be '" + text + "'; it can be " + known};
    }
    value = double(found - def.choices.begin());
  } else if (def.type == ParameterType::flag && (text == "true" || text == "false")) {
    value = text == "true";
  } else {
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    const bool whole = def.type == ParameterType::number || value == std::floor(value);
    if (text.empty() || *end || !whole)
      return Error{2, "--" + name + ": '" + text + "' is no " +
                          (def.type == ParameterType::number ? "number" : "whole number")};
  }
  std::erase_if(c.parameters, [&](const auto& known) { return known.first == name; });
  c.parameters.emplace_back(name, value);
  return Status::ok();
}

// Of those with nothing special about them, or else one that loses what is special about it.
Case largest_test(const Loaded& loaded) {
  Case largest = loaded.ladder->tour();
  largest.op = loaded.op->index;
  int64_t most = -1;
  for (const bool plain : {true, false}) {
    for (const Case& c : loaded.ladder->tests()) {
      if (c.op != largest.op || c.dtype != main_formats(*loaded.op).front()) continue;
      if (plain && (c.specials || c.misalignment || c.skew || c.padding)) continue;
      if (count(c.shape) <= most) continue;
      most = count(c.shape);
      largest = c;
      largest.specials = false;
      largest.misalignment = largest.skew = largest.padding = 0;
    }
    if (most >= 0) break;
  }
  return largest;
}

Status finish(Case& c, const Loaded& loaded) {
  if (const Status s = complete(c, *loaded.op); !s) return s;
  if (const Status s = loaded.ladder->check(c); !s) return s;
  // Parameters out of their range: the description's own check says so.
  const Workload workload = loaded.ladder->workload(c);
  KeptCall kept;
  Call call = loaded.ladder->call(c, workload, nowhere(workload), kept);
  const Status s = check_call(call, loaded.op->name.c_str());
  return s ? Status::ok() : Status(Error{2, s.message()});
}

}  // namespace

std::vector<void*> nowhere(const Workload& workload) {
  constexpr uintptr_t kApart = uintptr_t(1) << 56;  // more bytes than kMostElements take
  std::vector<void*> places;
  for (size_t t = 0; t < workload.tensors.size(); ++t)
    places.push_back(reinterpret_cast<void*>(kApart * (t + 1)));
  return places;
}

// Tensors whose matrices may lie either way.
static Status check_transposed(const std::string& name, const OperatorDef& op) {
  std::string known;
  for (const TensorDef& tensor : op.tensors) {
    if (tensor.layout != Layout::matrix) continue;
    if (tensor.name == name) return Status::ok();
    known += (known.empty() ? "" : ", ") + tensor.name;
  }
  return Error{2, known.empty() ? op.name + " takes no tensor transposed"
                                : op.name + " does not take " + name + " transposed, but " + known};
}

Expected<std::vector<Case>> cases_of(const Loaded& loaded, const Request& request,
                                     const std::vector<Case>& fallback) {
  std::vector<Case> cases;
  for (const Case& c : fallback)
    if (c.op == loaded.op->index) cases.push_back(c);
  if (cases.empty()) {  // listed for another operator of the family; sizes may suit this one too
    cases.push_back(fallback.empty() ? loaded.ladder->tour() : fallback.front());
    // Numbers of one and three dimensions may read as sizes of two, and be nonsense.
    const OperatorDef* const theirs = cases.front().def;
    const bool alike = !theirs || theirs->dimensions.size() == loaded.op->dimensions.size();
    cases.front().op = loaded.op->index;
    cases.front().parameters.clear();
    cases.front().distribution.clear();
    cases.front().with.clear();
    if (!alike || !finish(cases.front(), loaded)) cases.front() = largest_test(loaded);
  }
  const bool asked = !request.shape.empty() || !request.dtypes.empty() || !request.sizes.empty() ||
                     !request.values.empty() || !request.distribution.empty() ||
                     !request.with.empty() || !request.transposed.empty();
  if (asked) cases.resize(1);
  Case& first = cases.front();
  if (!request.shape.empty()) {
    auto shape = parse_shape(request.shape);
    if (!shape) return shape.error();
    first.shape = *shape;
  }
  // A parameter that the shape gives is set as a size.
  auto sizes = request.sizes, values = request.values;
  for (const auto& value : request.values)
    if (loaded.op->dimension_index(value.first) >= 0) sizes.push_back(value);
  std::erase_if(values, [&](const auto& v) { return loaded.op->dimension_index(v.first) >= 0; });
  if (!sizes.empty()) {
    if (const Status s = complete(first, *loaded.op); !s) return s.error();
    if (const Status s = set_sizes(first, sizes, *loaded.op); !s) return s.error();
  }
  for (const std::string& text : request.dtypes)
    if (const Status s = set_format(first, text, *loaded.op); !s) return s.error();
  for (const auto& [name, text] : values)
    if (const Status s = set_value(first, name, text, *loaded.op); !s) return s.error();
  if (!request.distribution.empty()) {
    const auto& known = loaded.op->distributions;
    if (std::find(known.begin(), known.end(), request.distribution) == known.end()) {
      std::string names;
      for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
      return Error{2, loaded.op->name + " has no distribution '" + request.distribution + "'" +
                          (names.empty() ? "" : "; it has " + names)};
    }
    first.distribution = request.distribution;
  }
  if (request.with == std::vector<std::string>{kNoneWith}) first.with.clear();
  else if (!request.with.empty()) first.with = request.with;
  for (const std::string& name : request.transposed)
    if (const Status s = check_transposed(name, *loaded.op); !s) return s.error();
  if (!request.transposed.empty()) first.transposed = request.transposed;
  for (Case& c : cases) {
    c.seed = request.seed;
    if (const Status s = finish(c, loaded); !s) return s.error();
  }
  return cases;
}

}  // namespace ridge::ladders
