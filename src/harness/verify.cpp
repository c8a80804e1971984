#include "harness/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/number.h"
#include "harness/device.h"
#include "harness/inputs.h"
#include "select/device.h"

namespace ridge::harness {
namespace {

constexpr int kRuns = 2;  // the second finds what the first left behind

int64_t bytes_of(const TensorSpec& spec) { return int64_t(bytes_for(spec.dtype, spec.span)); }

// Where element `index`, counted in the order of the shape, lies.
int64_t offset_of(const TensorSpec& spec, int64_t index) {
  int64_t offset = 0;
  for (size_t d = spec.shape.size(); d-- > 0;) {
    offset += index % spec.shape[d] * spec.strides[d];
    index /= spec.shape[d];
  }
  return offset;
}

std::vector<char> packed(const TensorSpec& spec, const std::vector<double>& values) {
  // Padding holds the format's poison, so that a rung that reads it is found out.
  std::vector<char> bytes(size_t(bytes_of(spec)), char(0xff));
  for (size_t i = 0; i < values.size(); ++i)
    store(spec.dtype, bytes.data(), offset_of(spec, int64_t(i)), values[i]);
  return bytes;
}

double tolerance_for(const TensorSpec& spec, double magnitude) {
  return (spec.rounding * unit_roundoff(spec.dtype) + spec.arithmetic * unit_roundoff(Dtype::f32)) *
             magnitude +
         spec.rounding * smallest(spec.dtype);
}
double magnitude_of(const HostTensor& tensor, int64_t index) {
  return tensor.magnitude.empty() ? std::fabs(tensor.values[size_t(index)])
                                  : tensor.magnitude[size_t(index)];
}

// The error in tolerances; more than 1 is wrong. Written so that a NaN never passes.
double error_of(const TensorSpec& spec, double got, double reference, double magnitude) {
  const double wanted = rounded(spec.dtype, reference);
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : INFINITY;
  if (got == wanted) return 0;
  // A number that rounds to infinity may stop at the largest number below it, and the reverse.
  const double tolerance = tolerance_for(spec, magnitude);
  const double error = std::fabs(got - reference);
  if (std::isinf(got) && std::isfinite(reference)) {
    const double nearest = std::copysign(std::fabs(reference) + tolerance, reference);
    return rounded(spec.dtype, nearest) == got ? 1 : INFINITY;
  }
  return error <= tolerance ? (tolerance > 0 ? error / tolerance : 0)
                            : (std::isnan(error) || tolerance == 0 ? INFINITY : error / tolerance);
}

std::string place(const HostTensor& tensor, int64_t index) {
  std::string text = tensor.spec.name;
  text += "[";
  std::vector<int64_t> at(tensor.spec.shape.size());
  for (int d = int(at.size()) - 1; d >= 0; --d) {
    at[size_t(d)] = index % tensor.spec.shape[size_t(d)];
    index /= tensor.spec.shape[size_t(d)];
  }
  for (size_t d = 0; d < at.size(); ++d) text += (d ? ", " : "") + std::to_string(at[d]);
  return text + "]";
}

Verification compare(const HostTensor& tensor, const std::vector<char>& got) {
  Verification result;
  const TensorSpec& spec = tensor.spec;
  int64_t wrong = 0, first = -1;
  // What lies between the elements, with the elements themselves put back to what was there.
  std::vector<char> between = got;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double reference = tensor.values[size_t(i)];
    const int64_t at = offset_of(spec, i);
    const double error =
        error_of(spec, load(spec.dtype, got.data(), at), reference, magnitude_of(tensor, i));
    store_bits(spec.dtype, between.data(), at, ~uint64_t(0));
    result.worst = std::max(result.worst, error);
    if (error <= 1) continue;
    if (wrong++ == 0) first = i;
  }
  if (std::any_of(between.begin(), between.end(), [](char byte) { return byte != char(0xff); })) {
    result.verdict = Verdict::wrong;
    result.message = "wrote between the rows of " + spec.name;
  }
  if (wrong == 0) return result;
  result.verdict = Verdict::wrong;
  char text[256];
  std::snprintf(text, sizeof text, "%s is %.9g, should be %.9g (%lld of %lld wrong)",
                place(tensor, first).c_str(), load(spec.dtype, got.data(), offset_of(spec, first)),
                rounded(spec.dtype, tensor.values[size_t(first)]), (long long)wrong,
                (long long)tensor.elements());
  result.message = text;
  return result;
}

// Whether an output is this input itself.
bool is_overwritten(const Workload& workload, size_t input) {
  for (size_t t = 0; t < workload.tensors.size(); ++t)
    if (t != input && workload.home_of(t) == input) return true;
  return false;
}

Verification failed(const Status& status) {
  return {.verdict = Verdict::failed, .message = status.message()};
}

}  // namespace

double tolerance_of(const HostTensor& tensor, int64_t index) {
  return tolerance_for(tensor.spec, magnitude_of(tensor, index));
}

double reference_work(const Workload& workload) {
  double elements = 0;
  for (const TensorSpec& t : workload.tensors) elements += double(count(t.shape));
  return elements + workload.cost.flops / 8;  // an operation is done sooner than a number is made
}

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
  return text + ", seed " + std::to_string(c.seed);
}

Prepared prepare(const Ladder& ladder, const Case& c) {
  Prepared p = {
      .ladder = &ladder, .c = c, .workload = ladder.workload(c), .tensors = {}, .inputs = {}};
  p.tensors = make_inputs(ladder, c, p.workload);
  for (const HostTensor& tensor : p.tensors)
    p.inputs.push_back(tensor.spec.role == Role::inout ? tensor.values : std::vector<double>());
  ladder.reference(c, p.tensors);
  return p;
}

Verification verify(const Prepared& p, const Contestant& contestant) {
  const bool canary_behind = !is_software_gpu();
  std::vector<DeviceBuffer> buffers;
  std::vector<void*> pointers;
  for (const HostTensor& tensor : p.tensors) {
    const int64_t offset = p.c.misalignment + int64_t(buffers.size()) * p.c.skew;
    auto buffer =
        DeviceBuffer::make(bytes_of(tensor.spec), int64_t(bytes_for(tensor.spec.dtype, offset)),
                           canary_behind, memory_of(tensor.spec, contestant.pageable));
    if (!buffer) return failed(buffer.error());
    buffers.push_back(std::move(*buffer));
    pointers.push_back(buffers.back().data());
  }
  KeptCall kept;
  Call call = p.ladder->call(p.c, p.workload, pointers, kept);
  if (const Status s = check_call(call, p.c.def->name.c_str()); !s) return failed(s);
  if (const std::string why = contestant.refuses(p.c, call); !why.empty())
    return {.verdict = Verdict::unsupported, .message = why};
  const auto wanted = contestant.workspace(call);
  if (!wanted) return failed(wanted.error());
  auto workspace = DeviceBuffer::make(int64_t(*wanted), 0, canary_behind);
  if (!workspace) return failed(workspace.error());
  if (const Status s = workspace->poison(); !s) return failed(s);

  Verification result;
  for (int run = 0; run < kRuns; ++run) {
    for (size_t t = 0; t < buffers.size(); ++t) {
      const HostTensor& tensor = p.tensors[t];
      const Role role = tensor.spec.role;
      const Status ready =
          role == Role::out
              ? buffers[t].poison()
              : buffers[t].upload(
                    packed(tensor.spec, role == Role::in ? tensor.values : p.inputs[t]).data());
      if (!ready) return failed(ready);
    }
    const Status launched = contestant.launch(call, {workspace->data(), *wanted}, nullptr);
    if (!launched) return failed(launched);
    if (const Status s = synchronize(); !s) return failed(s);
    for (size_t t = 0; t < buffers.size(); ++t) {
      const HostTensor& tensor = p.tensors[t];
      const DeviceBuffer& buffer = buffers[p.workload.home_of(t)];
      std::vector<char> got(size_t(buffer.size()));
      if (const Status s = buffer.download(got.data()); !s) return failed(s);
      if (tensor.spec.role == Role::in) {
        if (!is_overwritten(p.workload, t) && got != packed(tensor.spec, tensor.values))
          return {.verdict = Verdict::wrong, .message = "changed its input " + tensor.spec.name};
      } else {
        const Verification compared = compare(tensor, got);
        result.worst = std::max(result.worst, compared.worst);
        if (compared.verdict != Verdict::right) return compared;
      }
      const auto intact = buffers[t].canaries_intact();
      if (!intact) return failed(intact.error());
      if (!*intact)
        return {.verdict = Verdict::wrong, .message = "wrote outside " + tensor.spec.name};
    }
    const auto intact = workspace->canaries_intact();
    if (!intact) return failed(intact.error());
    if (!*intact) return {.verdict = Verdict::wrong, .message = "wrote outside its workspace"};
  }
  return result;
}

}  // namespace ridge::harness
