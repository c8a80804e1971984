#include "harness/verify.h"

#include <algorithm>

#include "harness/memory_order.h"
#include "select/device.h"

namespace ridge::harness {
namespace {

constexpr int kRuns = 2;  // the second finds what the first left behind

Verification failed(const Status& status) {
  return {.verdict = Verdict::failed, .message = status.message()};
}
Verification wrong(std::string message) {
  return {.verdict = Verdict::wrong, .message = std::move(message)};
}

// A case's tensors in memory, for one contestant.
class Trial {
 public:
  Trial(const Prepared& prepared, const Contestant& contestant)
      : p_(prepared), contestant_(contestant) {}

  Status allocate() {
    for (const TensorSpec& spec : p_.workload.tensors) {
      const int64_t offset = p_.c.misalignment + int64_t(buffers_.size()) * p_.c.skew;
      auto buffer = DeviceBuffer::make(bytes_of(spec), int64_t(bytes_for(spec.dtype, offset)),
                                       !is_software_gpu(), memory_of(spec, contestant_.pageable));
      if (!buffer) return buffer.error();
      buffers_.push_back(std::move(*buffer));
      pointers_.push_back(buffers_.back().data());
    }
    return Status::ok();
  }
  std::span<void* const> pointers() const { return pointers_; }

  // Inputs as they should be, outputs poisoned.
  Status reset() {
    for (size_t t = 0; t < buffers_.size(); ++t) {
      const Status ready = p_.workload.tensors[t].role == Role::out ? buffers_[t].poison()
                           : p_.is_sampled() ? buffers_[t].copy_from(p_.pristine[t])
                                             : buffers_[t].upload(p_.bytes[t].data());
      if (!ready) return ready;
    }
    return Status::ok();
  }

  Verification look() {
    Verification result;
    std::vector<std::vector<char>> bytes(buffers_.size());
    for (size_t t = 0; t < buffers_.size(); ++t) {
      const TensorSpec& spec = p_.workload.tensors[t];
      if (spec.role == Role::in) {
        const auto unchanged = is_overwritten(t) ? true : is_unchanged(t);
        if (!unchanged) return failed(unchanged.error());
        if (!*unchanged) return wrong("changed its input " + spec.name);
      } else {
        const DeviceBuffer& home = buffers_[p_.workload.home_of(t)];
        bytes[t].resize(size_t(home.size()));
        if (const Status s = home.download(bytes[t].data()); !s) return failed(s);
      }
      const auto intact = buffers_[t].canaries_intact();
      if (!intact) return failed(intact.error());
      if (!*intact) return wrong("wrote outside " + spec.name);
    }
    const Results results(p_.workload, std::move(bytes));
    for (size_t t = 0; t < buffers_.size(); ++t) {
      if (p_.workload.tensors[t].role == Role::in) continue;
      const Verification compared =
          p_.is_sampled() ? compare(p_.samples[t], results, t) : compare(p_.tensors[t], results, t);
      result.worst = std::max(result.worst, compared.worst);
      if (compared.verdict != Verdict::right) return compared;
      if (!results.gaps_are_intact(t))
        return wrong("wrote between the rows of " + p_.workload.tensors[t].name);
    }
    if (p_.proof)
      if (const std::string complaint = p_.proof(results); !complaint.empty())
        return wrong(complaint);
    return result;
  }

 private:
  // Whether an output is this input itself.
  bool is_overwritten(size_t input) const {
    for (size_t t = 0; t < buffers_.size(); ++t)
      if (t != input && p_.workload.home_of(t) == input) return true;
    return false;
  }
  Expected<bool> is_unchanged(size_t input) const {
    if (p_.is_sampled()) return buffers_[input].equals(p_.pristine[input]);
    std::vector<char> now(size_t(buffers_[input].size()));
    if (const Status s = buffers_[input].download(now.data()); !s) return s.error();
    return now == p_.bytes[input];
  }

  const Prepared& p_;
  const Contestant& contestant_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<void*> pointers_;
};

}  // namespace

Memory memory_of(const TensorSpec& spec, bool pageable) {
  if (!spec.on_host) return Memory::device;
  return pageable ? Memory::pageable : Memory::pinned;
}

std::string case_text(const Case& c) {
  std::string text = c.def->name + " " + name_of(c.dtype) + " " + shape_text(c.shape);
  if (const std::string settings = settings_text(c); !settings.empty()) text += " " + settings;
  if (c.misalignment) text += " misaligned by " + std::to_string(c.misalignment);
  if (c.skew) text += " skewed by " + std::to_string(c.skew);
  if (c.padding) text += " rows padded by " + std::to_string(c.padding);
  if (c.padding_skew) text += " and " + std::to_string(c.padding_skew) + " more for each tensor";
  if (c.step != 1) text += " in steps of " + std::to_string(c.step);
  if (c.specials) text += " with NaN and Inf";
  if (c.exact) text += " of whole numbers";
  return text + ", seed " + std::to_string(c.seed);
}

Verification verify(const Prepared& p, const Contestant& contestant) {
  Trial run(p, contestant);
  if (const Status s = run.allocate(); !s) return failed(s);
  KeptCall kept;
  Call call = p.ladder->call(p.c, p.workload, run.pointers(), kept);
  if (const Status s = check_call(call, p.c.def->name.c_str()); !s) return failed(s);
  if (const std::string why = contestant.refuses(p.c, call); !why.empty())
    return {.verdict = Verdict::unsupported, .message = why};
  const auto wanted = contestant.workspace(call);
  if (!wanted) return failed(wanted.error());
  auto workspace = DeviceBuffer::make(int64_t(*wanted), 0, !is_software_gpu());
  if (!workspace) return failed(workspace.error());
  if (const Status s = workspace->poison(); !s) return failed(s);

  Verification result;
  for (int i = 0; i < kRuns; ++i) {
    if (const Status s = run.reset(); !s) return failed(s);
    const Status launched = contestant.launch(call, {workspace->data(), *wanted}, nullptr);
    if (!launched) return failed(launched);
    if (const Status s = synchronize(); !s) return failed(s);
    const Verification seen = run.look();
    result.worst = std::max(result.worst, seen.worst);
    if (seen.verdict != Verdict::right) return seen;
    const auto intact = workspace->canaries_intact();
    if (!intact) return failed(intact.error());
    if (!*intact) return wrong("wrote outside its workspace");
  }
  return result;
}

}  // namespace ridge::harness
