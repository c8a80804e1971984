#include "harness/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/number.h"
#include "harness/device.h"
#include "harness/inputs.h"
#include "ladder/cases.h"
#include "select/device.h"

namespace ridge::harness {
namespace {

constexpr int kRuns = 2;  // the second finds what the first left behind

// Elements from row to row; the last row has no padding behind it.
struct Layout {
  int64_t rows, cols, stride;
  int64_t elements() const { return rows == 0 || cols == 0 ? 0 : (rows - 1) * stride + cols; }
};
Layout layout_of(const TensorSpec& spec, int64_t padding) {
  const int64_t cols = spec.shape.empty() ? 1 : spec.shape.back();
  const int64_t rows = cols == 0 ? 0 : count(spec.shape) / cols;
  return {rows, cols, spec.shape.size() > 1 ? cols + padding : cols};
}

std::vector<char> packed(const TensorSpec& spec, const Layout& layout,
                         const std::vector<double>& values) {
  // Padding holds the format's poison, so that a rung that reads it is found out.
  std::vector<char> bytes(bytes_for(spec.dtype, layout.elements()), char(0xff));
  for (int64_t r = 0; r < layout.rows; ++r)
    for (int64_t c = 0; c < layout.cols; ++c)
      store(spec.dtype, bytes.data(), r * layout.stride + c, values[size_t(r * layout.cols + c)]);
  return bytes;
}

// The error in tolerances; more than 1 is wrong. Written so that a NaN never passes.
double error_of(const TensorSpec& spec, double got, double reference, double magnitude) {
  const double wanted = rounded(spec.dtype, reference);
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : INFINITY;
  if (got == wanted) return 0;
  // A number that rounds to infinity may stop at the largest number below it, and the reverse.
  const double tolerance =
      (spec.rounding * unit_roundoff(spec.dtype) + spec.arithmetic * unit_roundoff(Dtype::f32)) *
          magnitude +
      spec.rounding * smallest(spec.dtype);
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

Verification compare(const HostTensor& tensor, const Layout& layout, const std::vector<char>& got) {
  Verification result;
  int64_t wrong = 0, first = -1;
  for (int64_t r = 0; r < layout.rows; ++r)
    for (int64_t c = 0; c < layout.cols; ++c) {
      const int64_t i = r * layout.cols + c;
      const double reference = tensor.values[size_t(i)];
      const double magnitude =
          tensor.magnitude.empty() ? std::fabs(reference) : tensor.magnitude[size_t(i)];
      const double error =
          error_of(tensor.spec, load(tensor.spec.dtype, got.data(), r * layout.stride + c),
                   reference, magnitude);
      result.worst = std::max(result.worst, error);
      if (error <= 1) continue;
      if (wrong++ == 0) first = i;
    }
  // Between the rows nothing may be written.
  const uint64_t poison = ~0ull >> (64 - bits_of(tensor.spec.dtype));
  for (int64_t r = 0; r + 1 < layout.rows; ++r)
    for (int64_t c = layout.cols; c < layout.stride; ++c)
      if (load_bits(tensor.spec.dtype, got.data(), r * layout.stride + c) != poison) {
        result.verdict = Verdict::wrong;
        result.message = std::string("wrote between the rows of ") + tensor.spec.name;
      }
  if (wrong == 0) return result;
  result.verdict = Verdict::wrong;
  const int64_t r = first / layout.cols, c = first % layout.cols;
  char text[256];
  std::snprintf(text, sizeof text, "%s is %.9g, should be %.9g (%lld of %lld wrong)",
                place(tensor, first).c_str(),
                load(tensor.spec.dtype, got.data(), r * layout.stride + c),
                rounded(tensor.spec.dtype, tensor.values[size_t(first)]), (long long)wrong,
                (long long)tensor.elements());
  result.message = text;
  return result;
}

Verification failed(const Status& status) {
  return {.verdict = Verdict::failed, .message = status.message()};
}

}  // namespace

Memory memory_of(const TensorSpec& spec, const RungInfo& rung) {
  if (!spec.on_host) return Memory::device;
  return rung.pageable ? Memory::pageable : Memory::pinned;
}

std::string case_text(const Ladder& ladder, const Case& c) {
  std::string text =
      ladder.operators[size_t(c.op)] + " " + name_of(c.dtype) + " " + shape_text(c.shape);
  if (c.misalignment) text += " misaligned by " + std::to_string(c.misalignment);
  if (c.skew) text += " skewed by " + std::to_string(c.skew);
  if (c.padding) text += " rows padded by " + std::to_string(c.padding);
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

Verification verify(const Prepared& p, int rung, const DeviceInfo& device) {
  const bool canary_behind = !is_software_gpu();
  std::vector<DeviceBuffer> buffers;
  std::vector<Layout> layouts;
  std::vector<void*> pointers;
  for (const HostTensor& tensor : p.tensors) {
    layouts.push_back(layout_of(tensor.spec, p.c.padding));
    const Dtype dtype = tensor.spec.dtype;
    const int64_t offset = p.c.misalignment + int64_t(buffers.size()) * p.c.skew;
    auto buffer = DeviceBuffer::make(int64_t(bytes_for(dtype, layouts.back().elements())),
                                     int64_t(bytes_for(dtype, offset)), canary_behind,
                                     memory_of(tensor.spec, p.ladder->rungs[size_t(rung)]));
    if (!buffer) return failed(buffer.error());
    buffers.push_back(std::move(*buffer));
    pointers.push_back(buffers.back().data());
  }
  if (const Support support = p.ladder->supports(rung, p.c, pointers, device); !support)
    return {.verdict = Verdict::unsupported, .message = support.reason};
  const auto workspace_bytes = int64_t(p.ladder->workspace(rung, p.c, pointers, device));
  auto workspace = DeviceBuffer::make(workspace_bytes, 0, canary_behind);
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
                    packed(tensor.spec, layouts[t], role == Role::in ? tensor.values : p.inputs[t])
                        .data());
      if (!ready) return failed(ready);
    }
    const Status launched = p.ladder->launch(rung, p.c, pointers, workspace->data(),
                                             size_t(workspace_bytes), device, nullptr);
    if (!launched) return failed(launched);
    if (const Status s = synchronize(); !s) return failed(s);
    for (size_t t = 0; t < buffers.size(); ++t) {
      const HostTensor& tensor = p.tensors[t];
      std::vector<char> got(size_t(buffers[t].size()));
      if (const Status s = buffers[t].download(got.data()); !s) return failed(s);
      if (tensor.spec.role == Role::in) {
        if (got != packed(tensor.spec, layouts[t], tensor.values))
          return {.verdict = Verdict::wrong,
                  .message = std::string("changed its input ") + tensor.spec.name};
      } else {
        const Verification compared = compare(tensor, layouts[t], got);
        result.worst = std::max(result.worst, compared.worst);
        if (compared.verdict != Verdict::right) return compared;
      }
      const auto intact = buffers[t].canaries_intact();
      if (!intact) return failed(intact.error());
      if (!*intact)
        return {.verdict = Verdict::wrong,
                .message = std::string("wrote outside ") + tensor.spec.name};
    }
    const auto intact = workspace->canaries_intact();
    if (!intact) return failed(intact.error());
    if (!*intact) return {.verdict = Verdict::wrong, .message = "wrote outside its workspace"};
  }
  return result;
}

}  // namespace ridge::harness
