// From a family's typed parts to the Ladder that everybody else sees. In its namespace a family has
//   Status bind(const Call&, Launch<Args>&)                    bind.cpp: a call as kernels want it
//   void reference(const Case&, std::vector<HostTensor>&)      reference.cpp: the float64 truth
//   FamilyOf<Args> family()                                    cases.cpp: what is tested and timed
// and the build adds its rungs, from ladder.def.
#pragma once

#include <algorithm>

#include "ladder/ladder.h"
#include "ladder/registry.h"
#include "operator/check.h"
#include "select/device.h"
#include "select/select.h"

namespace ridge {

// What the `bind` of a family calls with the arguments of the kernels: once, or once for each part
// of a call that takes several launches. If there is nothing to do, it is not called.
template <class Args>
class Launch {
 public:
  virtual ~Launch() = default;
  virtual Status operator()(const Args& args) = 0;
  // Hands the call over to another operator, whose kernels suit it: see handed_over.
  virtual Status other(Call call) = 0;
};

template <class Args>
struct FamilyOf {
  const char* summary;
  const char* unit = "GB/s";
  // Adds to the tensors of a case how they are filled and compared, and what the case costs.
  void (*workload)(const Case&, Workload&);
  std::vector<Case> (*tests)();
  std::vector<Case> (*timings)();
  Case tour = {};
  std::vector<Case> (*tuning)(int count, uint64_t seed, bool small) = nullptr;  // see Ladder
  std::optional<double> (*input)(const Case&, size_t tensor, int64_t index) = nullptr;
  // What verifies a case that is too large for its reference: see Ladder.
  std::optional<Truth> (*truth_at)(const Case&, const Elements& inputs, size_t tensor,
                                   int64_t index) = nullptr;
  Proof (*proof)(const Case&, const Elements& inputs) = nullptr;
  Status (*check)(const Case&) = nullptr;
  // Calls that are served together, if a case consists of several.
  std::vector<Call> (*group)(const Case&, const Call&, std::vector<Tensor>& views) = nullptr;
};

template <class Args>
class LadderOf : public Ladder {
 public:
  // `bind` makes the arguments of the kernels from a checked call, and checks what a description
  // cannot say.
  using Bind = Status (*)(const Call&, Launch<Args>&);
  using Reference = void (*)(const Case&, std::vector<HostTensor>&);
  LadderOf(const char* name, FamilyOf<Args> described, Bind bind, Reference reference,
           std::vector<RungOf<Args>> typed)
      : described_(described), bind_(bind), reference_(reference), typed_(std::move(typed)) {
    family = name;
    summary = described.summary;
    unit = described.unit;
    for (const OperatorDef* op : all_operators())
      if (op->family == family) operators.push_back(op);
    for (const RungOf<Args>& rung : typed_)
      rungs.push_back({rung.name,
                       rung.idea,
                       rung.claims,
                       rung.pageable,
                       {rung.variants.begin(), rung.variants.end()},
                       rung.fails_on ? rung.fails_on : ""});
  }

  std::vector<Case> tests() const override { return completed(described_.tests()); }
  std::vector<Case> timings() const override { return completed(described_.timings()); }
  Case tour() const override { return completed({described_.tour}).front(); }

  std::vector<Case> tuning(int count, uint64_t seed, bool small) const override {
    if (!described_.tuning) return {};
    return completed(described_.tuning(count, seed, small));
  }

  Status check(const Case& c) const override {
    return described_.check ? described_.check(c) : Status::ok();
  }
  Workload workload(const Case& c) const override {
    Workload w = described_workload(c);
    described_.workload(c, w);
    return w;
  }
  std::optional<double> input(const Case& c, size_t tensor, int64_t index) const override {
    return described_.input ? described_.input(c, tensor, index) : std::nullopt;
  }
  void reference(const Case& c, std::vector<HostTensor>& tensors) const override {
    reference_(c, tensors);
  }
  std::optional<Truth> truth_at(const Case& c, const Elements& inputs, size_t tensor,
                                int64_t index) const override {
    return described_.truth_at ? described_.truth_at(c, inputs, tensor, index) : std::nullopt;
  }
  Proof proof(const Case& c, const Elements& inputs) const override {
    return described_.proof ? described_.proof(c, inputs) : Proof();
  }
  Call call(const Case& c, const Workload& w, std::span<void* const> tensors,
            KeptCall& kept) const override {
    Call call = call_of(c, w, tensors, kept.views);
    if (!described_.group) return call;
    kept.group = described_.group(c, call, kept.parts);
    call.group = kept.group;
    return call;
  }

  Support supports(int rung, const Call& call, const DeviceInfo& device) const override {
    Support support;
    (void)each(
        call,
        [&](const Args& args) {
          const RungOf<Args>& taken = typed_[size_t(rung)];
          support = taken.supports(args, device);
          if (support && call.variant >= 0 && taken.variant_cost &&
              taken.variant_cost(args, device, call.variant) >= kNever)
            support = "this variant of the rung cannot do it";
          return support ? Status::ok() : Error{1, support.reason};
        },
        [&](const Call&) {
          support = "another operator's kernels do this";
          return Status(Error{1, support.reason});
        });
    return support;
  }

  Expected<size_t> workspace(int rung, const Call& call, const DeviceInfo& device) const override {
    size_t most = 0;
    const Status status = each(
        call,
        [&](const Args& args) {
          const auto taken = rung_for(rung, call, args, device);
          if (!taken) return Status(taken.error());
          const auto add = [&](const RungOf<Args>& one) {
            if (one.workspace) most = std::max(most, one.workspace(args, device));
          };
          add(**taken);
          if (rung == kChosen && is_software_gpu()) each_close(args, device, add);
          return Status::ok();
        },
        [&](const Call& other) {
          const auto ladder = load_family(other.op().family);
          if (!ladder) return Status(ladder.error());
          const auto bytes = (*ladder)->workspace(kChosen, other, device);
          if (bytes) most = std::max(most, *bytes);
          return bytes ? Status::ok() : Status(bytes.error());
        });
    if (!status) return status.error();
    return most;
  }

  Status launch(int rung, const Call& call, const Workspace& workspace, const DeviceInfo& device,
                cudaStream_t stream) const override {
    return each(
        call,
        [&](const Args& args) {
          const auto taken = rung_for(rung, call, args, device);
          if (!taken) return Status(taken.error());
          return launched(**taken, args, workspace, device, stream);
        },
        [&](const Call& other) {
          const auto ladder = load_family(other.op().family);
          if (!ladder) return Status(ladder.error());
          return (*ladder)->launch(kChosen, other, workspace, device, stream);
        });
  }

  std::optional<Terms> terms(int rung, const Call& call, const DeviceInfo& device) const override {
    const RungOf<Args>& taken = typed_[size_t(rung)];
    std::vector<Terms> all;
    if (!taken.variant_terms || call.variant < 0) return std::nullopt;
    const Status status = each(
        call,
        [&](const Args& args) {
          all.push_back(taken.variant_terms(args, device, call.variant));
          return Status::ok();
        },
        [](const Call&) {
          return Status(Error{1, "another operator's kernels do this"});
        });
    return status && all.size() == 1 ? std::optional(all.front()) : std::nullopt;
  }

  Expected<std::vector<Choice>> choices(const Call& call, const DeviceInfo& device) const override {
    std::vector<Choice> all;
    const Status status = each(
        call,
        [&](const Args& args) {
          all.push_back({.ladder = this});
          all.back().chosen = select(typed_, args, device, [&](const Candidate& seen) {
            all.back().candidates.push_back(seen);
          });
          all.back().launch = [this, args](int rung, const Workspace& workspace,
                                           const DeviceInfo& on, cudaStream_t stream) {
            return launched(typed_[size_t(rung)], args, workspace, on, stream);
          };
          return Status::ok();
        },
        [&](const Call& other) {
          const auto ladder = load_family(other.op().family);
          if (!ladder) return Status(ladder.error());
          const auto theirs = (*ladder)->choices(other, device);
          if (!theirs) return Status(theirs.error());
          all.insert(all.end(), theirs->begin(), theirs->end());
          return Status::ok();
        });
    if (!status) return status.error();
    return all;
  }

 private:
  std::vector<Case> completed(std::vector<Case> cases) const {
    for (Case& c : cases) {
      if (c.op < 0 || size_t(c.op) >= operators.size())
        fail_at_start(family, "a case is of operator " + std::to_string(c.op) + ", but there are " +
                                  std::to_string(operators.size()));
      if (const Status s = complete(c, *operators[size_t(c.op)]); !s)
        fail_at_start(family, s.message());
    }
    return cases;
  }

  // Runs `bind` with two functions in place of a launch.
  template <class Own, class Other>
  Status each(const Call& call, Own own, Other other) const {
    struct Visitor final : Launch<Args> {
      Visitor(const Call& c, Own& o, Other& t) : call(c), own(o), theirs(t) {}
      Status operator()(const Args& args) override {
        if constexpr (requires { args.variant; }) {
          Args with_variant = args;
          with_variant.variant = call.variant;
          return own(with_variant);
        } else {
          return own(args);
        }
      }
      Status other(Call handed) override {
        const Status fine = check_call(handed, handed.op().name.c_str(), Overlaps::checked_before);
        return fine ? theirs(handed) : fine;
      }
      const Call& call;
      Own& own;
      Other& theirs;
    } visitor(call, own, other);
    return bind_(call, visitor);
  }

  static Status launched(const RungOf<Args>& rung, Args args, const Workspace& workspace,
                         const DeviceInfo& device, cudaStream_t stream) {
    args.workspace = workspace.data;
    args.workspace_bytes = workspace.bytes;
    return rung.launch(args, device, stream);
  }

  // The rungs among which ask_model decides.
  template <class Visit>
  void each_close(const Args& args, const DeviceInfo& device, Visit visit) const {
    std::vector<Candidate> all;
    const int chosen =
        select(typed_, args, device, [&](const Candidate& candidate) { all.push_back(candidate); });
    for (size_t i = 0; i < all.size(); ++i)
      if (is_close(all[i], all, chosen)) visit(typed_[i]);
  }

  Expected<const RungOf<Args>*> rung_for(int rung, const Call& call, const Args& args,
                                         const DeviceInfo& device) const {
    if (rung != kChosen) return &typed_[size_t(rung)];
    const char* why = "no rung";
    const int index = select(typed_, args, device, [&](const Candidate& c) {
      if (!c.support) why = c.support.reason;
    });
    if (index < 0) return Error{ops::kInvalid, call.op().name + ": " + why};
    return &typed_[size_t(index)];
  }

  FamilyOf<Args> described_;
  Bind bind_;
  Reference reference_;
  std::vector<RungOf<Args>> typed_;
};

}  // namespace ridge
