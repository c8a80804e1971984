#include "harness/prepare.h"

#include <algorithm>
#include <cmath>

#include "core/number.h"
#include "core/parallel.h"
#include "harness/convert.h"
#include "harness/memory_order.h"
#include "harness/samples.h"

namespace ridge::harness {
namespace {

std::vector<char> packed(const TensorSpec& spec, const std::vector<double>& values) {
  // Padding holds the format's poison, so that a rung that reads it is found out.
  std::vector<char> bytes(size_t(bytes_of(spec)), char(0xff));
  if (is_plain(spec)) {
    store_all(spec.dtype, bytes.data(), 0, values);
  } else {
    for (size_t i = 0; i < values.size(); ++i)
      store(spec.dtype, bytes.data(), offset_of(spec, int64_t(i)), values[i]);
  }
  return bytes;
}

double elements_of(const Workload& workload, bool outputs_only) {
  double elements = 0;
  for (const TensorSpec& t : workload.tensors)
    if (!outputs_only || t.role != Role::in) elements += double(count(t.shape));
  return elements;
}

// The elements of each output that are looked at; a share of the work for each.
std::vector<std::vector<int64_t>> sampled_indices_of(const Case& c, const Workload& workload) {
  constexpr double kPerSample = 256;  // whatever is computed; at most 2^20 samples
  const double outputs = std::max(elements_of(workload, true), 1.0);
  const double share_of_all = (workload.cost.flops + elements_of(workload, false)) / outputs;
  const double one = workload.cost.one_truth;
  const double work = kPerSample + (one > 0 ? one : share_of_all);
  const double most = std::max(kMostSampledWork / work, 1.0);
  std::vector<std::vector<int64_t>> indices;
  for (const TensorSpec& spec : workload.tensors) {
    const double share = most * double(count(spec.shape)) / outputs;
    indices.push_back(spec.role == Role::in ? std::vector<int64_t>()
                                            : sampled_indices(spec.shape, int64_t(share), c.seed));
  }
  return indices;
}

// Whether the family knows the truth of single elements, of all outputs.
bool can_be_sampled(const Ladder& ladder, const Case& c, const Workload& workload) {
  const MadeInputs made(ladder, c, workload);
  for (size_t t = 0; t < workload.tensors.size(); ++t) {
    const TensorSpec& spec = workload.tensors[t];
    if (is_packed(spec.dtype)) return false;  // see each_part
    if (spec.role != Role::in && !ladder.truth_at(c, made, t, 0)) return false;
  }
  return true;
}

void make_reference(Prepared& p) {
  p.tensors = make_inputs(*p.ladder, p.c, p.workload);
  for (const HostTensor& tensor : p.tensors)
    p.bytes.push_back(tensor.spec.role == Role::out ? std::vector<char>()
                                                    : packed(tensor.spec, tensor.values));
  p.ladder->reference(p.c, p.tensors);
}

Status make_samples(Prepared& p) {
  constexpr int64_t kPart = 16, kUploaded = 1 << 24;
  const auto indices = sampled_indices_of(p.c, p.workload);
  for (size_t t = 0; t < indices.size(); ++t) {
    std::vector<Sample> samples(indices[t].size());
    in_parallel(int64_t(samples.size()), kPart, [&](int64_t first, int64_t last) {
      for (auto i = size_t(first); i < size_t(last); ++i)
        samples[i] = {indices[t][i], *p.ladder->truth_at(p.c, *p.made, t, indices[t][i])};
    });
    p.samples.push_back(std::move(samples));
    const TensorSpec& spec = p.workload.tensors[t];
    p.pristine.emplace_back();
    if (spec.role == Role::out) continue;
    auto buffer = DeviceBuffer::make(bytes_of(spec), 0, false,
                                     spec.on_host ? Memory::pinned : Memory::device);
    if (!buffer) return buffer.error();
    const Status filled =
        each_part(*p.made, t, kUploaded, [&](int64_t at, std::span<const char> bytes) {
          return buffer->upload_part(bytes.data(), at, int64_t(bytes.size()));
        });
    if (!filled) return filled;
    p.pristine.back() = std::move(*buffer);
  }
  return Status::ok();
}

bool is_small(const Workload& workload) { return reference_work(workload) <= kMostReferenceWork; }

}  // namespace

double reference_work(const Workload& workload) {
  // An operation is done sooner than a number is made.
  return elements_of(workload, false) + workload.cost.flops / 8;
}

Case exact_case(const Case& c) {
  Case exact = c;
  exact.exact = true;
  return exact;
}

std::optional<Means> means_for(const Ladder& ladder, const Case& c) {
  const Workload workload = ladder.workload(c);
  if (is_small(workload)) return Means();
  if (!can_be_sampled(ladder, c, workload)) return std::nullopt;
  Means means = {.samples = 0, .proof = ladder.workload(exact_case(c)).exact};
  for (const auto& indices : sampled_indices_of(c, workload))
    means.samples += int64_t(indices.size());
  return means;
}

Expected<Prepared> prepare(const Ladder& ladder, const Case& c) {
  Prepared p = {.ladder = &ladder, .c = c, .workload = ladder.workload(c)};
  p.made = std::make_unique<MadeInputs>(ladder, c, p.workload);
  if (p.workload.exact) p.proof = ladder.proof(c, *p.made);
  if (is_small(p.workload) || !can_be_sampled(ladder, c, p.workload)) {
    make_reference(p);
  } else if (const Status s = make_samples(p); !s) {
    return s.error();
  }
  return p;
}

std::string truth_against_reference(const Prepared& p) {
  constexpr int64_t kMost = 64;
  constexpr double kRoundings = 1e-12;  // of sums in another order
  for (size_t t = 0; t < p.tensors.size(); ++t) {
    const HostTensor& tensor = p.tensors[t];
    if (tensor.spec.role == Role::in) continue;
    for (const int64_t i : sampled_indices(tensor.spec.shape, kMost, p.c.seed)) {
      const auto truth = p.ladder->truth_at(p.c, *p.made, t, i);
      if (!truth) break;
      const double value = tensor.values[size_t(i)];
      const double magnitude =
          tensor.magnitude.empty() ? std::fabs(value) : tensor.magnitude[size_t(i)];
      const auto same = [&](double a, double b) {
        return a == b || (std::isnan(a) && std::isnan(b)) ||
               std::fabs(a - b) <= kRoundings * magnitude;
      };
      if (!same(truth->value, value) || !same(truth->magnitude, magnitude))
        return "truth_at says " + std::to_string(truth->value) + " ± " +
               std::to_string(truth->magnitude) + " of " + place(tensor.spec, i) +
               ", the reference " + std::to_string(value) + " ± " + std::to_string(magnitude);
    }
  }
  return "";
}

}  // namespace ridge::harness
