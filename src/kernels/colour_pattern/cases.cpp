#include "ladder/cases.h"
#include "kernels/colour_pattern/family.h"

namespace ridge::colour_pattern {

Family::Family() : Erased(colour_pattern::rungs()) {
  family = "colour_pattern";
  summary = "an animated plasma, as rgb frames";
  operators = {"colour_pattern"};
  dtypes = {Dtype::u8};
  shape_help = "FRAMESxHEIGHTxWIDTHx3";
  tests = crossed({.dtypes = dtypes,
                   .shapes = {{0, 4, 4, 3},
                              {2, 0, 5, 3},
                              {1, 1, 1, 3},
                              {1, 3, 15, 3},
                              {2, 5, 16, 3},
                              {3, 2, 17, 3},
                              {2, 33, 100, 3},
                              {4, 40, 64, 3}},
                   .misalignments = {0, 1, 7},
                   .padding = {0, 5},
                   .specials = false});
  timings = {{.dtype = Dtype::u8, .shape = {64, 1080, 1920, 3}},
             {.dtype = Dtype::u8, .shape = {1, 8192, 8192, 3}},
             {.dtype = Dtype::u8, .shape = {256, 511, 509, 3}}};
  tour = {.dtype = Dtype::u8, .shape = {2, 128, 192, 3}};
}

Status Family::check(const Case& c) const {
  if (const Status s = check_case(*this, c, 4); !s) return s;
  if (c.shape[3] != 3) return Error{2, "a frame has 3 channels, not " + std::to_string(c.shape[3])};
  return Status::ok();
}

Workload Family::workload(const Case& c) const {
  return {.tensors = {{.name = "out",
                       .dtype = c.dtype,
                       .shape = {c.shape[0] * c.shape[1], c.shape[2] * 3},  // rows of all frames
                       .role = Role::out,
                       .rounding = 0,
                       .arithmetic = 1}},  // of the magnitude that the reference gives: one level
          .cost = {.written = double(count(c.shape))}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.out = t[0],
          .frames = c.shape[0],
          .height = c.shape[1],
          .width = c.shape[2],
          .stride = c.shape[2] * 3 + c.padding,
          .dtype = c.dtype};
}

}  // namespace ridge::colour_pattern
