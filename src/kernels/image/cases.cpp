#include "ladder/cases.h"
#include "kernels/image/family.h"

namespace ridge::image {

Family::Family() : Erased(image::rungs()) {
  family = "image";
  summary = "images of bytes: inverted, grey, blurred";
  operators = {"rgb_invert", "rgb_to_gray", "blur_box", "blur_gaussian"};  // in the order of Op
  dtypes = {Dtype::u8};
  shape_help = "HEIGHTxWIDTH, or HEIGHTxWIDTHx3 for the rgb operators";
  tests = crossed({.ops = {0, 1},
                   .dtypes = dtypes,
                   .shapes = {{0, 5},
                              {5, 0},
                              {1, 1},
                              {1, 15},
                              {2, 16},
                              {3, 17},
                              {33, 31},
                              {8, 1031},
                              {64, 64},
                              {40, 50, 3}},
                   .padding = {0, 5},
                   .specials = false});
  // Around tiles of 32 x 32, strips of 240 columns and runs of 16 and 64 rows.
  append(tests, crossed({.ops = {2, 3},
                         .dtypes = dtypes,
                         .shapes = {{0, 5},
                                    {5, 0},
                                    {1, 1},
                                    {1, 300},
                                    {300, 1},
                                    {3, 3},
                                    {9, 239},
                                    {17, 240},
                                    {15, 241},
                                    {33, 31},
                                    {80, 485}},
                         .padding = {0, 5},
                         .specials = false}));
  for (int op = 0; op < 4; ++op)
    for (const int skew : {1, 3, 6})
      tests.push_back({.op = op,
                       .dtype = Dtype::u8,
                       .shape = {21, 333},
                       .seed = tests.size() + 1,
                       .misalignment = 2,
                       .skew = skew,
                       .padding = 3});
  for (int op = 0; op < 4; ++op) {
    timings.push_back({.op = op, .dtype = Dtype::u8, .shape = {8192, 8192}});
    timings.push_back({.op = op, .dtype = Dtype::u8, .shape = {16384, 16384}});
    timings.push_back({.op = op, .dtype = Dtype::u8, .shape = {2160, 3840}});
    timings.push_back({.op = op, .dtype = Dtype::u8, .shape = {8191, 8193}});
  }
  tour = {.dtype = Dtype::u8, .shape = {256, 480}};
}

Status Family::check(const Case& c) const {
  const bool with_channels = c.shape.size() == 3 && !is_blur(Op(c.op));
  if (const Status s = check_case(*this, c, with_channels ? 3 : 2); !s) return s;
  if (with_channels && c.shape[2] != 3)
    return Error{2, "an rgb image has 3 channels, not " + std::to_string(c.shape[2])};
  return Status::ok();
}

Workload Family::workload(const Case& c) const {
  const int64_t height = c.shape[0], width = c.shape[1];
  const int in = in_channels(Op(c.op)), out = out_channels(Op(c.op));
  const double pixels = double(height) * double(width);
  return {.tensors = {{.name = "in",
                       .dtype = c.dtype,
                       .shape = {height, width * in},  // a row is one run of bytes
                       .fill = Fill::bytes},
                      {.name = "out",
                       .dtype = c.dtype,
                       .shape = {height, width * out},
                       .role = Role::out,
                       .rounding = 0,  // exact: see image.h
                       .arithmetic = 0}},
          .cost = {.read = pixels * in, .written = pixels * out}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const Op op = Op(c.op);
  return {.op = op,
          .in = t[0],
          .out = t[1],
          .height = c.shape[0],
          .width = c.shape[1],
          .in_stride = c.shape[1] * in_channels(op) + c.padding,
          .out_stride = c.shape[1] * out_channels(op) + c.padding,
          .dtype = c.dtype};
}

}  // namespace ridge::image
