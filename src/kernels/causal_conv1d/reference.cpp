#include <cmath>

#include "kernels/causal_conv1d/causal_conv1d.h"
#include "ladder/ladder.h"

namespace ridge::causal_conv1d {
namespace {

struct Tensors {
  std::vector<HostTensor>& all;
  HostTensor* find(const char* name) const {
    for (HostTensor& t : all)
      if (t.spec.name == name) return &t;
    return nullptr;
  }
};

double silu(double z) { return z / (1 + std::exp(-z)); }
double slope(double z) {
  const double s = 1 / (1 + std::exp(-z));
  return s * (1 + z * (1 - s));
}
// The slope of silu is at most 1.1, and that of its slope at most 0.5.
constexpr double kSteepest = 1.1, kBend = 0.5;

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const int64_t batch = c.size("batch"), channels = c.size("channels"), length = c.size("length"),
                width = c.size("width");
  const bool with_silu = c.flag("silu");
  const auto &x = t.find("x")->values, &w = t.find("w")->values;
  const HostTensor* const bias = t.find("bias");
  HostTensor *const y = t.find("y"), *const dx = t.find("dx"), *const dw = t.find("dw"),
                    *const dbias = t.find("dbias");
  for (HostTensor* out : {y, dx, dw, dbias})
    if (out) {
      out->values.assign(out->values.size(), 0);
      out->magnitude.assign(out->values.size(), 0);
    }
  for (int64_t row = 0; row < batch * channels; ++row) {
    const int64_t channel = row % channels;
    for (int64_t i = 0; i < length; ++i) {
      double z = bias ? bias->values[size_t(channel)] : 0, size = std::fabs(z);
      for (int64_t k = 0; k < width; ++k) {
        const int64_t from = i - (width - 1) + k;
        const double product =
            w[size_t(channel * width + k)] * (from < 0 ? 0 : x[size_t(row * length + from)]);
        z += product;
        size += std::fabs(product);
      }
      const auto at = size_t(row * length + i);
      if (y) {
        y->values[at] = with_silu ? silu(z) : z;
        y->magnitude[at] = size;
        continue;
      }
      const double dy = t.find("dy")->values[at];
      const double g = with_silu ? dy * slope(z) : dy;
      const double of_g = std::fabs(dy) * (with_silu ? kSteepest + kBend * size : 1);
      dbias->values[size_t(channel)] += g;
      dbias->magnitude[size_t(channel)] += of_g;
      for (int64_t k = 0; k < width; ++k) {
        const int64_t from = i - (width - 1) + k;
        if (from < 0) continue;
        const auto of = size_t(row * length + from), tap = size_t(channel * width + k);
        dx->values[of] += w[tap] * g;
        dx->magnitude[of] += std::fabs(w[tap]) * of_g;
        dw->values[tap] += g * x[of];
        dw->magnitude[tap] += of_g * std::fabs(x[of]);
      }
    }
  }
}

}  // namespace ridge::causal_conv1d
