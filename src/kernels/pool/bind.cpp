#include <cmath>
#include <string>

#include "kernels/pool/pool.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::pool {

Status bind(const Call& call, Launch<Args>& launch) {
  const int op = call.op().index, directions = directions_of(op);
  const bool backward = is_backward(op);
  const int64_t kernel = call.integer("kernel"), padding = call.integer("padding");
  const int64_t stride = call.integer("stride") >= 1 ? call.integer("stride") : kernel;
  constexpr int64_t kMost = (int64_t(1) << 30) - 1;
  ops::Check check(call.op().name.c_str());
  check.that(2 * padding <= kernel, [&] {
    return "padding is " + std::to_string(padding) +
           "; it must be at most half of kernel, which is " + std::to_string(kernel);
  });
  Args args = {.mean = is_mean(op), .backward = backward};
  if (args.mean) args.count_padding = call.flag("count_padding");
  conv::Args& at = args.at;
  for (int d = 0; d < directions; ++d) {
    const std::string name =
        directions == 1 ? "length" : conv::kDirectionNames[conv::kDirections - directions + d];
    const int64_t in = call.size(name), out = call.size("out_" + name);
    const int64_t wanted = conv::out_size(in, kernel, stride, padding, 1);
    check.that(out == wanted, [&] {
      return std::string(backward ? "dy" : "y") + " has " + name + " " + std::to_string(out) +
             "; " + std::to_string(in) + " elements with kernel " + std::to_string(kernel) +
             ", stride " + std::to_string(stride) + " and padding " + std::to_string(padding) +
             " make " + std::to_string(wanted);
    });
    check.that(in <= kMost / 2, "sizes must be below 2^29");
    at.along[conv::kDirections - directions + d] = {int(in),     int(kernel),  int(out),
                                                    int(stride), int(padding), 1};
  }
  const int64_t planes = call.size("batch") * call.size("channels");
  check.that(planes <= kMost, "there must be fewer than 2^30 planes");
  check.that(std::pow(double(kernel), directions) <= double(kMost),
             "windows must have fewer than 2^30 elements");
  if (!check) return check.status();
  const auto steps = [&](const Tensor& t, bool of_out) {
    conv::Steps s;
    s.batch = ops::rows_of(t, directions).stride;
    s.at[2] = 1;
    for (int d = 1; d >= 0; --d)
      s.at[d] = s.at[d + 1] * (of_out ? at.along[d + 1].out : at.along[d + 1].in);
    return s;
  };
  at.batch = int(planes);
  at.group_channels = at.group_filters = 1;
  if (call.op().tensor("x")) {
    at.x = call["x"].data;
    at.x_steps = steps(call["x"], false);
  }
  const Tensor& y = call[backward ? "dy" : "y"];
  at.y = y.data;
  at.y_steps = steps(y, true);
  if (backward) {
    args.dx = call["dx"].data;
    args.dx_stride = ops::rows_of(call["dx"], directions).stride;
  }
  args.dtype = at.dtype = y.dtype;
  const int64_t results = at.batch * (backward ? at.in_pixels() : at.pixels());
  return results == 0 ? Status::ok() : launch(args);
}

}  // namespace ridge::pool
