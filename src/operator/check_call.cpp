// The checks that follow from a description, in the order that helps a user most: impossible
// tensors, formats, shapes, parameters, overlaps, layouts.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/text.h"
#include "operator/call.h"
#include "operator/check.h"
#include "operator/layout.h"

namespace ridge {
namespace {

using ops::Check;
using ops::Named;
using ops::text;

class Checker {
 public:
  Checker(Call& call, const char* name) : call_(call), op_(call.op()), check_(name) {}

  Status run(Overlaps overlaps) {
    each([&](size_t t) { check_present(t); });
    each([&](size_t t) { check_format(t); });
    check_axis();
    each([&](size_t t) { learn_shape(t); });
    each([&](size_t t) { check_shape(t); });
    for (size_t p = 0; p < op_.parameters.size(); ++p) check_parameter(p);
    if (overlaps == Overlaps::refused) each([&](size_t t) { check_overlaps(t); });
    each([&](size_t t) { check_layout(check_, named(t), op_.tensors[t]); });
    each([&](size_t t) { check_strides(t); });
    return check_.status();
  }

 private:
  template <class F>
  void each(F f) {
    for (size_t t = 0; t < op_.tensors.size() && check_; ++t)
      if (call_.tensors[t] || !op_.tensors[t].optional) f(t);
  }
  Named named(size_t t) const { return {op_.tensors[t].name.c_str(), *call_.tensors[t]}; }
  bool is_output(size_t t) const { return op_.tensors[t].role != Role::in; }
  bool has(size_t t) const { return call_.tensors[t] != nullptr; }

  void check_present(size_t t) {
    check_.that(has(t), [&] { return op_.tensors[t].name + " is missing"; });
    if (!check_) return;
    check_.valid(named(t));
    check_.that(op_.tensors[t].scaled || !call_.tensors[t]->scales.data, [&] {
      return op_.tensors[t].name + " has scales; this operator takes plain tensors";
    });
  }

  void check_format(size_t t) {
    const TensorDef& def = op_.tensors[t];
    if (!def.formats.empty()) check_.dtype(named(t), def.formats);
    if (def.like_index < 0 || !has(size_t(def.like_index))) return;
    const Named like = named(size_t(def.like_index));
    if (!def.derived) {
      check_.same_dtype(named(t), like);
      return;
    }
    const Dtype wanted = def.derived(like.tensor.dtype);
    check_.that(call_.tensors[t]->dtype == wanted, [&] {
      return def.name + " is " + name_of(call_.tensors[t]->dtype) + "; " + def.derived_name +
             " of " + name_of(like.tensor.dtype) + " is " + name_of(wanted);
    });
  }

  int axis() const {
    const int p = op_.parameter_index("axis");
    return p < 0 ? 0 : int(call_.parameters[size_t(p)].integer);
  }
  void check_axis() {
    if (!check_ || op_.parameter_index("axis") < 0) return;
    const int rank = call_.tensors[0]->rank;
    check_.that(axis() >= -rank && axis() < rank, [&] {
      return "axis is " + std::to_string(axis()) + ", but " + op_.tensors[0].name + " is " +
             text(*call_.tensors[0]);
    });
  }

  void learn_shape(size_t t) {
    const TensorDef& def = op_.tensors[t];
    check_.that(learn(def.pattern, *call_.tensors[t], axis(), call_.sizes), [&] {
      return def.name + " is " + text(*call_.tensors[t]) + "; it has to be (" + def.shape + ")";
    });
  }

  // A reduced dimension may be gone, or left with one element.
  bool keeps_axis(size_t t) const {
    const TensorDef& def = op_.tensors[t];
    const Tensor& tensor = *call_.tensors[t];
    const int at = axis() < 0 ? axis() + tensor.rank : axis();
    if (def.pattern.size() != 2 || !def.pattern[0].pack || !def.pattern[1].pack) return false;
    if (at < 0 || at >= tensor.rank || tensor.shape[size_t(at)] != 1) return false;
    return fits(def.pattern, ops::without(tensor, at), call_.sizes);
  }
  void check_shape(size_t t) {
    const TensorDef& def = op_.tensors[t];
    const Tensor& tensor = *call_.tensors[t];
    if (fits(def.pattern, tensor, call_.sizes) || keeps_axis(t)) return;
    check_.that(false, [&] {
      const std::string is = def.name + " is " + text(tensor);
      if (def.shape == "1") return is + "; it has to have one element";
      const std::vector<size_t> givers = givers_of(t);
      std::string because;
      for (const size_t other : givers)
        because += (because.empty() ? "" : " and ") + op_.tensors[other].name + " is " +
                   text(*call_.tensors[other]);
      if (givers.size() == 1 && op_.tensors[givers[0]].shape == def.shape)
        return is + " but " + because;
      const Shape shape = shape_of(def.pattern, call_.sizes);
      if (shape.rank > kMaxRank)
        return def.name + " would have " + std::to_string(shape.rank) +
               " dimensions, but at most " + std::to_string(kMaxRank) + " are possible: " + because;
      Tensor wanted = tensor;
      wanted.rank = shape.rank;
      wanted.shape = shape.size;
      return is + " but must be " + text(wanted) + (because.empty() ? "" : ": ") + because;
    });
  }
  // The tensors that a wrong tensor disagrees with: an earlier one that must have the same shape;
  // otherwise, for each size, the first other tensor with that size.
  std::vector<size_t> givers_of(size_t t) const {
    std::vector<size_t> givers;
    for (size_t other = 0; other < t; ++other)
      if (has(other) && op_.tensors[other].shape == op_.tensors[t].shape) return {other};
    for (const Extent& size : op_.tensors[t].pattern) {
      const size_t giver = giver_of(size, t);
      if (giver != t && std::find(givers.begin(), givers.end(), giver) == givers.end())
        givers.push_back(giver);
    }
    return givers;
  }
  size_t giver_of(const Extent& size, size_t t) const {
    for (size_t other = 0; other < op_.tensors.size() && size.dimension >= 0; ++other) {
      if (other == t || !has(other)) continue;
      for (const Extent& e : op_.tensors[other].pattern)
        if (e.dimension == size.dimension) return other;
    }
    return t;
  }

  // Errors that only callers by number can make: C, and languages that call it.
  void check_kind(size_t p) {
    const ParameterDef& def = op_.parameters[p];
    const auto [x, whole] = call_.parameters[p];
    if (def.type == ParameterType::number) return;
    const auto is = [&] { return def.name + " is " + number_text(x); };
    check_.that(x == double(whole), [&] { return is() + "; it has to be a whole number"; });
    if (def.type == ParameterType::flag)
      check_.that(x == 0 || x == 1, [&] { return is() + "; it has to be 0 or 1"; });
    if (def.type == ParameterType::choice)
      check_.that(x >= 0 && x < double(def.choices.size()), [&] {
        std::string known;
        for (size_t i = 0; i < def.choices.size(); ++i)
          known += (i ? ", " : "") + std::to_string(i) + " (" + def.choices[i] + ")";
        return is() + "; it can be " + known;
      });
  }

  void check_parameter(size_t p) {
    check_kind(p);
    const ParameterDef& def = op_.parameters[p];
    const double x = call_.parameters[p].number;
    const bool low = def.above_least ? x > def.least : x >= def.least;
    const bool high = def.under_most ? x < def.most : x <= def.most;
    // Written so that a NaN is refused if there is a range, and only then.
    const bool ranged = std::isfinite(def.least) || std::isfinite(def.most);
    check_.that(!ranged || (low && high), [&] {
      const auto written = [&](Value value) {
        return def.type == ParameterType::integer ? std::to_string(value.integer)
                                                  : number_text(value.number);
      };
      std::string range;
      if (std::isfinite(def.least))
        range = (def.above_least ? "above " : "at least ") + written(def.least);
      if (std::isfinite(def.most))
        range += (range.empty() ? "" : " and ") +
                 std::string(def.under_most ? "under " : "at most ") + written(def.most);
      return def.name + " is " + written(call_.parameters[p]) + "; it has to be " + range;
    });
    const int other = op_.parameter_index(def.not_under);
    if (other < 0) return;
    const double least = call_.parameters[size_t(other)].number;
    check_.that(x >= least, [&] {
      return def.name + " is " + number_text(x) + " but " + def.not_under + " is " +
             number_text(least) + "; " + def.name + " must not be under " + def.not_under;
    });
  }

  void check_overlaps(size_t t) {
    if (!is_output(t)) return;
    const TensorDef& def = op_.tensors[t];
    const bool strides_are_free = def.layout == Layout::any || def.layout == Layout::unit_last ||
                                  def.layout == Layout::matrix;
    if (strides_are_free) check_.distinct(named(t));
    for (size_t other = 0; other < op_.tensors.size(); ++other) {
      if (other == t || !has(other) || (is_output(other) && other > t)) continue;
      bool may_be = false;
      for (const std::string& name : def.may_be) may_be |= name == op_.tensors[other].name;
      if (may_be) check_may_be(t, other);
      else check_.no_overlap(named(t), named(other));
    }
  }

  void check_strides(size_t t) {
    const int other = op_.tensor_index(op_.tensors[t].strides_of);
    if (other < 0 || !has(size_t(other))) return;
    const Named a = named(t), b = named(size_t(other));
    check_.that(a.tensor.elements() == 0 || ops::same_strides(a.tensor, b.tensor), [&] {
      return std::string(a.name) + " has strides " + ops::strides_text(a.tensor) + " but " +
             b.name + " has " + ops::strides_text(b.tensor) + "; they have to be the same";
    });
  }

  // An output that may be an input; where the last size of one is a multiple of the other's, part
  // for part of that.
  void check_may_be(size_t out, size_t in) {
    const int64_t out_size = last_size(out), in_size = last_size(in);
    const int64_t out_parts = std::max<int64_t>(in_size > 0 ? out_size / in_size : 1, 1);
    const int64_t in_parts = std::max<int64_t>(out_size > 0 ? in_size / out_size : 1, 1);
    if (out_parts == 1 && in_parts == 1) {
      check_.no_partial_overlap(named(out), named(in));
      return;
    }
    for (int64_t o = 0; o < out_parts && check_; ++o)
      for (int64_t i = 0; i < in_parts && check_; ++i) {
        const Part a(named(out), o, out_parts), b(named(in), i, in_parts);
        check_.no_partial_overlap({a.name.c_str(), a.tensor}, {b.name.c_str(), b.tensor});
      }
  }
  int64_t last_size(size_t t) const {
    const Tensor& tensor = *call_.tensors[t];
    return tensor.rank > 0 ? tensor.shape[size_t(tensor.rank - 1)] : 1;
  }
  // One of the equal parts of a tensor's last dimension.
  struct Part {
    std::string name;
    Tensor tensor;
    Part(Named whole, int64_t part, int64_t parts) : name(whole.name), tensor(whole.tensor) {
      if (parts == 1) return;  // the one that lies in a part of the other
      const auto last = size_t(tensor.rank - 1);
      tensor.shape[last] /= parts;
      if (tensor.data)
        tensor.data = static_cast<char*>(tensor.data) + part * tensor.shape[last] *
                                                            tensor.strides[last] *
                                                            int64_t(size_of(tensor.dtype));
      name = "part " + std::to_string(part + 1) + " of " + name;
    }
  };

  Call& call_;
  const OperatorDef& op_;
  Check check_;
};

}  // namespace

Status check_call(Call& call, const char* name, Overlaps overlaps) {
  return Checker(call, name).run(overlaps);
}

}  // namespace ridge
