#include <cmath>

#include "kernels/pointwise_loss/pointwise_loss.h"
#include "ladder/ladder.h"

namespace ridge::pointwise_loss {

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Op op = Op(c.op);
  const auto find = [&](const char* name) -> HostTensor& {
    for (HostTensor& t : all)
      if (t.spec.name == name) return t;
    return all.front();
  };
  const std::vector<double>& target = find("target").values;
  const std::vector<double>& x = find("x").values;  // of the backward pass of kl_div: the targets
  const bool is_mse = op == Op::mse || op == Op::mse_bwd;
  const bool log_target = !is_mse && c.flag("log_target");
  const auto reduction = Reduction(c.integer("reduction"));
  const double divisor = reduction == Reduction::mean        ? double(target.size())
                         : reduction == Reduction::sum       ? 1
                         : find("target").spec.shape.empty() ? 1
                                                             : double(find("target").spec.shape[0]);
  HostTensor& out = all.back();
  out.values.assign(out.values.size(), 0);
  out.magnitude.assign(out.values.size(), 0);
  for (size_t i = 0; i < target.size(); ++i) {
    const double distance = x[i] - target[i], p = log_target ? std::exp(target[i]) : target[i];
    if (is_backward(op)) {
      const double dloss = find("dloss").values[0];
      out.values[i] = dloss / divisor * (is_mse ? 2 * distance : -p);
      out.magnitude[i] = std::fabs(out.values[i]);
      continue;
    }
    const double log_p = log_target ? target[i] : std::log(p);
    const double term = is_mse ? distance * distance : p == 0 ? 0 : p * (log_p - x[i]);
    const double size = is_mse ? term : p == 0 ? 0 : p * (1 + std::fabs(log_p) + std::fabs(x[i]));
    out.values[0] += term / divisor;
    out.magnitude[0] += size / divisor;
  }
  if (!is_backward(op) && target.empty()) out.values[0] = 0 / divisor;
}

}  // namespace ridge::pointwise_loss
