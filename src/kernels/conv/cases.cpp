#include "ladder/cases.h"

#include <cmath>

#include "kernels/conv/shape.h"
#include "ladder/family.h"

namespace ridge::conv {
namespace {

bool has_bias(const Case& c) { return c.seed % 3 != 0; }

void workload(const Case& c, Workload& w) {
  const CaseShape s = shape_of(c);
  if (!has_bias(c)) std::erase_if(w.tensors, [](const TensorSpec& t) { return t.name == "bias"; });
  const double terms = double(s.group_channels) * double(s.taps());
  // Products and sums one after another, each rounded once; sums of tensor cores are cut off, not
  // rounded, at one bit less.
  w["y"].arithmetic = (c.dtype == Dtype::f32 ? 1 : 2) * (terms + 2);
  // Whole numbers whose sums are exact in any order: no product can be lost within a tolerance.
  if (c.seed % 2 == 0 && !c.specials) {
    for (TensorSpec& t : w.tensors) t.fill = Fill::counted;
    w["y"].arithmetic = 0;
  }
  const double size = double(size_of(c.dtype));
  const double images = double(s.batch) * double(s.channels) * double(s.in_pixels());
  const double outputs = double(s.batch) * double(s.filters) * double(s.pixels());
  w.cost = {.read = size * (images + double(s.filters) * terms),
            .written = size * outputs,
            .flops = 2 * outputs * terms};
  if (c.dtype != Dtype::f32 && s.group_channels > 1) w.cost.arithmetic = Arithmetic::tensor_f16;
}

// x has what is not finite; w and bias are whole numbers, so that no product overflows.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (!c.specials) return std::nullopt;
  const uint64_t bits = hash(c.seed * 4 + tensor, uint64_t(index));
  if (tensor == 0 && bits % 64 < 4) {
    constexpr double kValues[] = {NAN, INFINITY, -INFINITY, -0.0};
    return kValues[bits % 64];
  }
  return double(int(bits >> 8 & 7) - 3);
}

Status check(const Case& c) { return shape_of(c).check(); }

std::optional<Truth> truth_at(const Case& c, const Elements& inputs, size_t, int64_t index) {
  const CaseShape s = shape_of(c);
  const bool last = s.channels_last;
  const int64_t pixel = last ? index / s.filters % s.pixels() : index % s.pixels();
  const int64_t f = last ? index % s.filters : index / s.pixels() % s.filters;
  const int64_t image = index / (s.filters * s.pixels());
  Truth truth = has_bias(c) ? plain_truth(inputs.at(2, f)) : Truth();
  for (int64_t tap = 0; tap < s.taps(); ++tap) {
    const int64_t in = s.input_of(pixel, tap);
    if (in < 0) continue;
    for (int64_t k = 0; k < s.group_channels; ++k) {
      const int64_t channel = f / s.group_filters() * s.group_channels + k;
      const double product =
          inputs.at(0, s.x_at(image, channel, in)) * inputs.at(1, s.w_at(f, k, tap));
      truth.value += product;
      truth.magnitude += std::fabs(product);
    }
  }
  return truth;
}

using Parameters = std::vector<std::pair<std::string, double>>;
struct Shaped {
  Op op;
  std::vector<int64_t> shape;  // batch, channels, sizes, filters, kernel
  Parameters parameters = {};
};

std::vector<Case> tests() {
  const Parameters same = {{"padding", 1}};
  // Around 128 pixels and 64 and 128 filters, too.
  const std::vector<Shaped> shapes = {
      {Op::conv2d, {0, 2, 5, 5, 3, 3, 3}},                    // nothing at all
      {Op::conv2d, {2, 3, 2, 2, 3, 3, 3}},                    // a kernel larger than the image
      {Op::conv2d, {1, 1, 1, 1, 1, 1, 1}},                    //
      {Op::conv2d, {1, 0, 4, 4, 2, 3, 3}, same},              // no channels: the bias alone
      {Op::conv2d, {1, 3, 5, 0, 2, 3, 3}, {{"padding", 2}}},  // no pixels: padding alone
      {Op::conv2d, {2, 3, 9, 33, 5, 3, 3}, same},             // boxes of 32 x 8 and one more
      {Op::conv2d, {1, 4, 7, 31, 9, 3, 3}, same},             // one less
      {Op::conv2d, {1, 3, 37, 43, 8, 7, 7}, {{"stride", 2}, {"padding", 3}}},
      {Op::conv2d, {1, 2, 12, 17, 3, 1, 5}, {{"padding", 0}, {"padding_width", 2}}},
      {Op::conv2d, {1, 2, 21, 23, 4, 3, 3}, {{"dilation", 3}, {"stride_width", 2}}},
      {Op::conv2d, {2, 6, 8, 11, 9, 3, 3}, {{"groups", 3}, {"padding", 2}}},
      {Op::conv2d, {2, 7, 10, 35, 7, 3, 3}, {{"groups", 7}, {"padding", 1}}},
      {Op::conv2d, {1, 5, 9, 13, 10, 5, 5}, {{"groups", 5}, {"padding", 2}, {"stride", 2}}},
      {Op::conv2d, {3, 17, 7, 7, 33, 1, 1}},
      {Op::conv2d, {2, 16, 14, 14, 24, 3, 3}, same},
      {Op::conv2d, {1, 64, 6, 6, 70, 3, 3}, same},
      {Op::conv2d, {1, 9, 8, 16, 64, 2, 2}, same},
      {Op::conv2d, {1, 8, 1, 127, 129, 1, 1}},
      {Op::conv1d, {2, 3, 1031, 5, 7}, {{"padding", 3}}},
      {Op::conv1d, {3, 4, 50, 4, 3}, {{"groups", 4}, {"dilation", 2}, {"stride", 3}}},
      {Op::conv3d, {1, 2, 5, 9, 19, 3, 3}, same},
      {Op::conv3d, {2, 3, 6, 7, 8, 4, 2, 3, 1}, {{"stride_height", 2}, {"dilation_width", 3}}},
      {Op::conv2d_nhwc, {2, 3, 9, 33, 5, 3, 3}, same},
      {Op::conv2d_nhwc, {2, 16, 13, 9, 24, 3, 3}, {{"padding", 1}, {"stride", 2}}},
      {Op::conv2d_nhwc, {1, 24, 10, 11, 48, 3, 3}, {{"groups", 3}}}};
  std::vector<Case> cases;
  uint64_t seed = 0;
  const auto add = [&](const Shaped& s, Dtype dtype) -> Case& {
    return cases.emplace_back(Case{.op = int(s.op),
                                   .dtype = dtype,
                                   .shape = s.shape,
                                   .seed = ++seed,
                                   .parameters = s.parameters});
  };
  for (const Shaped& s : shapes)
    for (const Dtype dtype : kFloats) add(s, dtype);
  // Pointers, rows and elements that lie askew, and NaN and infinity.
  for (const Shaped& s : {shapes[4], shapes[6], shapes[13], shapes[16], shapes[18], shapes[20]})
    for (const Dtype dtype : kFloats) {
      Case& askew = add(s, dtype);
      askew.misalignment = askew.skew = 1;
      askew.padding = 3;
      add(s, dtype).specials = true;
    }
  add(shapes[4], Dtype::f32).transposed = {"x", "y"};
  add(shapes[6], Dtype::f16).transposed = {"y"};
  return cases;
}

std::vector<Case> timings() {
  const Parameters same = {{"padding", 1}};
  const std::vector<Shaped> shapes = {
      {Op::conv2d, {32, 64, 56, 56, 64, 3, 3}, same},
      {Op::conv2d, {32, 256, 14, 14, 256, 3, 3}, same},
      {Op::conv2d, {32, 3, 224, 224, 64, 7, 7}, {{"stride", 2}, {"padding", 3}}},
      {Op::conv2d, {16, 8, 256, 256, 8, 3, 3}, same},
      {Op::conv2d, {1, 1, 4096, 4096, 1, 5, 5}, {{"padding", 2}}},
      {Op::conv2d, {32, 128, 56, 56, 128, 3, 3}, {{"groups", 128}, {"padding", 1}}},
      {Op::conv2d, {32, 256, 56, 56, 64, 1, 1}},
      {Op::conv1d, {16, 64, 16384, 64, 5}, {{"padding", 2}}},
      {Op::conv1d, {64, 1, 65536, 1, 9}, {{"padding", 4}}},
      {Op::conv3d, {4, 16, 32, 64, 64, 16, 3}, same},
      {Op::conv2d_nhwc, {32, 64, 56, 56, 64, 3, 3}, same},
      {Op::conv2d_nhwc, {32, 256, 14, 14, 256, 3, 3}, same}};
  std::vector<Case> cases;
  for (const Shaped& s : shapes)
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
      cases.push_back(
          {.op = int(s.op), .dtype = dtype, .shape = s.shape, .parameters = s.parameters});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "convolutions of one, two and three dimensions",
          .unit = "TFLOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.op = int(Op::conv2d),
                   .shape = {1, 16, 28, 28, 16, 3, 3},
                   .parameters = {{"padding", 1}}},
          .input = input,
          .truth_at = truth_at,
          .check = check};
}

}  // namespace ridge::conv
