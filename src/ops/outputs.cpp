#include "ops/outputs.h"

#include "operator/check.h"
#include "operator/layout.h"

namespace ridge::ops {
namespace {

class Outputs {
 public:
  Outputs(const OperatorDef& op, std::span<Tensor* const> tensors) : op_(op), tensors_(tensors) {}

  Status fill_in(std::span<const Value> parameters, std::span<const int64_t> sizes) {
    const int axis = op_.parameter_index("axis");
    axis_ = axis < 0 ? 0 : int(parameters[size_t(axis)].integer);
    if (axis >= 0 && known(0) && (axis_ < -tensors_[0]->rank || axis_ >= tensors_[0]->rank))
      return wrong("axis is " + std::to_string(axis_) + ", but " + op_.tensors[0].name + " is " +
                   text(*tensors_[0]));
    for (size_t t = 0; t < tensors_.size(); ++t)
      if (known(t))
        if (const Status s = learn_from(t); !s) return s;
    for (size_t d = 0; d < sizes.size(); ++d)
      if (const Status s = take(int(d), sizes[d]); !s) return s;
    follow(parameters);
    for (size_t t = 0; t < tensors_.size(); ++t)
      if (tensors_[t] && !known(t))
        if (const Status s = fill_in(t); !s) return s;
    return Status::ok();
  }

 private:
  Error wrong(const std::string& what) const { return {kInvalid, op_.name + ": " + what}; }
  bool known(size_t t) const { return tensors_[t] && tensors_[t]->rank != kUnknownRank; }

  Status learn_from(size_t t) {
    const TensorDef& def = op_.tensors[t];
    const Tensor& tensor = *tensors_[t];
    if (tensor.rank < 0 || tensor.rank > kMaxRank)
      return wrong(def.name + " has " + std::to_string(tensor.rank) + " dimensions; up to " +
                   std::to_string(kMaxRank) + " are possible");
    if (def.role == Role::out || learn(def.pattern, tensor, axis_, sizes_)) return Status::ok();
    return wrong(def.name + " is " + text(tensor) + "; it has to be (" + def.shape + ")");
  }

  // A size that the caller gave.
  Status take(int d, int64_t size) {
    if (size == Sizes::kUnknown) return Status::ok();
    const std::string& name = op_.dimensions[size_t(d)].name;
    if (size < 0) return wrong(name + " is " + std::to_string(size) + "; it cannot be negative");
    if (sizes_.knows(d) && sizes_.size[size_t(d)] != size)
      return wrong(name + " is " + std::to_string(size) + ", but the inputs have " +
                   std::to_string(sizes_.size[size_t(d)]));
    if (sizes_.knows(d)) return Status::ok();
    sizes_.size[size_t(d)] = sizes_.pack[size_t(d)][0] = size;
    sizes_.pack_rank[size_t(d)] = 1;
    return Status::ok();
  }

  // Sizes that nobody gave and that follow from those before them.
  void follow(std::span<const Value> parameters) {
    std::vector<std::int64_t> before;
    std::vector<double> values;
    for (const Value& value : parameters) values.push_back(value.number);
    for (size_t d = 0; d < op_.dimensions.size(); ++d) {
      const DimensionDef& dimension = op_.dimensions[d];
      if (!sizes_.knows(int(d))) {
        if (!dimension.has_default()) return;
        sizes_.size[d] = dimension.otherwise ? dimension.otherwise(before)
                                             : dimension.otherwise_with(before, values);
        sizes_.pack[d][0] = sizes_.size[d];
        sizes_.pack_rank[d] = 1;
      }
      before.push_back(sizes_.size[d]);
    }
  }

  Status fill_in(size_t t) {
    const TensorDef& def = op_.tensors[t];
    for (const Extent& e : def.pattern)
      if (e.dimension >= 0 && !sizes_.knows(e.dimension)) {
        const std::string& size = op_.dimensions[size_t(e.dimension)].name;
        return wrong("no input says the size " + size + " of " + def.name + " (" + def.shape +
                     "); give " + size + ", or " + def.name + " itself");
      }
    Tensor& tensor = *tensors_[t];
    tensor.dtype = format_of(t);
    const Shape shape = shape_of(def.pattern, sizes_);
    if (shape.rank > kMaxRank)
      return wrong(def.name + " would have " + std::to_string(shape.rank) + " dimensions; up to " +
                   std::to_string(kMaxRank) + " are possible");
    tensor.rank = def.shape == "1" ? 0 : shape.rank;
    tensor.shape = shape.size;
    const int like = op_.tensor_index(def.strides_of);
    if (like >= 0 && known(size_t(like)) && tensors_[size_t(like)]->rank == tensor.rank) {
      tensor.strides = tensors_[size_t(like)]->strides;
      return Status::ok();
    }
    std::uint64_t stride = 1;
    for (int d = tensor.rank; --d >= 0;) {
      tensor.strides[size_t(d)] = std::int64_t(stride);
      stride *= std::uint64_t(tensor.shape[size_t(d)]);
    }
    return Status::ok();
  }

  // Of the tensor that it has to be like, or usually is; otherwise the first that it may have.
  Dtype format_of(size_t t) const {
    const TensorDef& def = op_.tensors[t];
    if (def.like_index >= 0 && tensors_[size_t(def.like_index)]) {
      const Dtype of = def.like_index > int(t) && !known(size_t(def.like_index))
                           ? format_of(size_t(def.like_index))
                           : tensors_[size_t(def.like_index)]->dtype;
      return def.derived ? def.derived(of) : of;
    }
    const int usual = op_.tensor_index(def.usually_like);
    if (usual >= 0 && tensors_[size_t(usual)]) return tensors_[size_t(usual)]->dtype;
    return def.formats.empty() ? Dtype::f32 : def.formats.front();
  }

  const OperatorDef& op_;
  std::span<Tensor* const> tensors_;
  int axis_ = 0;
  Sizes sizes_;
};

}  // namespace

Status fill_in_outputs(const OperatorDef& op, std::span<Tensor* const> tensors,
                       std::span<const Value> parameters, std::span<const int64_t> sizes) {
  return Outputs(op, tensors).fill_in(parameters, sizes);
}

}  // namespace ridge::ops
