// The functions of an operator are one operator: what its description does (`run`), what C does by
// name, and what the hand-shaped C++ function does. Each runs on a small case of the family's
// tests.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "core/number.h"
#include "hand_shaped.h"
#include "harness/device.h"
#include "harness/inputs.h"
#include "harness/verify.h"
#include "ladder/registry.h"
#include "ridge/c.h"

namespace ridge {
namespace {

using harness::DeviceBuffer;
using Function = std::function<Status(const Call&, const Workspace&)>;
using Bytes = std::vector<char>;

// With nothing special about it: one tensor after another, without gaps.
bool is_plain(const Ladder& ladder, const Case& c, int op) {
  if (c.op != op || c.specials || c.misalignment || c.skew || c.padding || c.padding_skew ||
      c.step != 1 || !c.transposed.empty())
    return false;
  const Workload workload = ladder.workload(c);
  for (const TensorSpec& t : workload.tensors)
    if (count(t.shape) == 0 || count(t.shape) != t.span) return false;
  std::vector<void*> nowhere(workload.tensors.size());
  KeptCall kept;
  return ladder.call(c, workload, nowhere, kept).group.empty();
}

// The numbers of an input, rounded to quarters where they are fractions: sums of them are exact in
// any order, so that every bit can be compared.
Bytes exact_bytes(const HostTensor& t) {
  Bytes bytes(bytes_for(t.spec.dtype, t.elements()));
  for (size_t i = 0; i < t.values.size(); ++i) {
    const double x = t.values[i];
    store(t.spec.dtype, bytes.data(), int64_t(i),
          is_floating(t.spec.dtype) ? std::round(4 * x) / 4 : x);
  }
  return bytes;
}

// A case on memory of its own.
class Operands {
 public:
  explicit Operands(const OperatorDef& op) {
    const auto loaded = load_family(op.family);
    if (!loaded) {
      ADD_FAILURE() << loaded.error().message;
      return;
    }
    ladder_ = *loaded;
    constexpr int64_t kEnough = 64;  // elements: so many that an order of tensors shows
    for (const Case& c : ladder_->tests()) {
      if (!is_plain(*ladder_, c, op.index)) continue;
      const bool is_first = case_.def == nullptr;
      if (is_first || elements_of(case_) < kEnough) case_ = c;
    }
    if (!case_.def) {
      ADD_FAILURE() << op.name << " has no test without gaps";
      return;
    }
    workload_ = ladder_->workload(case_);
    for (const HostTensor& t : harness::make_inputs(*ladder_, case_, workload_))
      contents_.push_back(exact_bytes(t));
    for (const TensorSpec& t : workload_.tensors) {
      auto made = DeviceBuffer::make(int64_t(bytes_for(t.dtype, t.span)), 0, false,
                                     harness::memory_of(t, false));
      if (!made) {
        ADD_FAILURE() << made.error().message;
        return;
      }
      buffers_.push_back(std::move(*made));
      pointers_.push_back(buffers_.back().data());
    }
    are_there_ = true;
  }
  bool are_there() const { return are_there_; }

  Call call() { return ladder_->call(case_, workload_, pointers_, kept_); }

  // What `f` leaves in the outputs.
  std::vector<Bytes> outputs_of(const Function& f) {
    fill();
    std::size_t bytes = 0;
    const Status asked = f(call(), Workspace::ask(bytes));
    EXPECT_TRUE(asked) << asked.message();
    const auto workspace = DeviceBuffer::make(int64_t(bytes), 0, false);
    EXPECT_TRUE(workspace);
    fill();  // a function without a workspace has done its work by now
    const Status done = f(call(), {workspace->data(), bytes});
    EXPECT_TRUE(done) << done.message();
    EXPECT_TRUE(harness::synchronize());
    std::vector<Bytes> outputs;
    for (size_t t = 0; t < buffers_.size(); ++t) {
      if (workload_.tensors[t].role == Role::in) continue;
      outputs.emplace_back(size_t(buffers_[t].size()));
      EXPECT_TRUE(buffers_[t].download(outputs.back().data()));
    }
    return outputs;
  }

 private:
  int64_t elements_of(const Case& c) const {
    return count(ladder_->workload(c).tensors.front().shape);
  }
  void fill() {
    for (size_t t = 0; t < buffers_.size(); ++t) {
      const TensorSpec& spec = workload_.tensors[t];
      const Status ready =
          spec.role == Role::out ? buffers_[t].poison() : buffers_[t].upload(contents_[t].data());
      EXPECT_TRUE(ready) << ready.message();
    }
  }

  const Ladder* ladder_ = nullptr;
  Case case_;
  Workload workload_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<Bytes> contents_;
  std::vector<void*> pointers_;
  KeptCall kept_;
  bool are_there_ = false;
};

Status by_description(const Call& call, const Workspace& workspace) {
  Call checked = call;
  return run(checked, workspace, nullptr);
}

Status by_name_in_c(const Call& call, const Workspace& workspace) {
  const OperatorDef& op = call.op();
  std::vector<RidgeTensor> tensors(op.tensors.size());
  std::vector<const RidgeTensor*> pointers(op.tensors.size());
  std::vector<double> parameters;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (!call.tensors[t]) continue;
    tensors[t] = std::bit_cast<RidgeTensor>(*call.tensors[t]);
    pointers[t] = &tensors[t];
  }
  for (size_t p = 0; p < op.parameters.size(); ++p) parameters.push_back(call.parameters[p].number);
  const RidgeWorkspace memory = {workspace.data, workspace.bytes, workspace.wanted};
  const int code = ridge_run(op.name.c_str(), pointers.data(), int(pointers.size()),
                             parameters.data(), int(parameters.size()), &memory, nullptr);
  if (code) return Error{code, ridge_error()};
  return Status::ok();
}

void expect_same(const OperatorDef& op, const Function& other) {
  SCOPED_TRACE(op.name);
  Operands operands(op);
  if (!operands.are_there()) return;
  EXPECT_EQ(operands.outputs_of(by_description), operands.outputs_of(other));

  // A wrong format of each tensor in turn: both say the same.
  const Call right = operands.call();
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    if (!right.tensors[t]) continue;
    Tensor wrong = *right.tensors[t];
    wrong.dtype = wrong.dtype == Dtype::u8 ? Dtype::f64 : Dtype::u8;
    Call call = right;
    call.tensors[t] = &wrong;
    const Status described = by_description(call, {}), others = other(call, {});
    EXPECT_FALSE(described) << op.tensors[t].name;
    EXPECT_EQ(described.message(), others.message()) << op.tensors[t].name;
    EXPECT_EQ(described.code(), others.code()) << op.tensors[t].name;
  }
}

TEST(Derived, EveryOperatorHasACFunction) {
  for (const OperatorDef* op : all_operators())
    EXPECT_TRUE(dlsym(RTLD_DEFAULT, ("ridge_" + op->name).c_str())) << op->name;
}

TEST(Derived, RunByNameInCIsTheOperator) {
  for (const OperatorDef* op : all_operators()) expect_same(*op, by_name_in_c);
}

TEST(HandShaped, EveryOperatorWithAHeaderIsInTheTable) {
  for (const OperatorDef* op : all_operators())
    EXPECT_EQ(hand_shaped().contains(op->name), !op->header.empty())
        << op->name << ": hand_shaped.h has the functions of operators with a header";
  for (const auto& [name, function] : hand_shaped()) {
    const OperatorDef* const op = find_operator(name);
    EXPECT_TRUE(op && op->name == name) << "there is no operator " << name;
  }
}

TEST(HandShaped, FunctionAndDescriptionAgree) {
  for (const OperatorDef* op : all_operators())
    if (const auto found = hand_shaped().find(op->name); found != hand_shaped().end())
      expect_same(*op, found->second);
}

}  // namespace
}  // namespace ridge
