#include "profile/modelled.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/figures.h"
#include "profile/time.h"

namespace ridge::tools::profile {
namespace {

using nlohmann::json;
using Key = std::tuple<std::string, std::array<uint32_t, 3>, std::array<uint32_t, 3>>;

std::array<uint32_t, 3> sizes(const Size& size) { return {size.x, size.y, size.z}; }

std::string short_time(double us) {
  return us < 1000 ? fmt::format("{:.1f} µs", us) : fmt::format("{:.2f} ms", us / 1000);
}

// Without the unit of the time beside it.
std::string limits(const ModelledTime& time) {
  return time.us < 1000 ? fmt::format("{:.1f}–{:.1f}", time.low_us, time.high_us)
                        : fmt::format("{:.2f}–{:.2f}", time.low_us / 1000, time.high_us / 1000);
}

}  // namespace

void read_modelled_times(Profile& profile, std::istream& wire) {
  std::map<Key, ModelledTime> times;
  for (std::string line; std::getline(wire, line);) {
    const json launch = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!launch.is_object() || !launch.contains("modelled_us")) continue;
    ModelledTime& time =
        times[{launch["name"].get<std::string>(), launch["grid"].get<std::array<uint32_t, 3>>(),
               launch["block"].get<std::array<uint32_t, 3>>()}];
    const double before = double(time.launches++), after = double(time.launches);
    const auto add = [&](double& mean, const char* field) {
      mean = (mean * before + launch.value(field, 0.0)) / after;
    };
    add(time.us, "modelled_us");
    add(time.low_us, "modelled_low_us");
    add(time.high_us, "modelled_high_us");
    add(time.own_us, "own_us");
    time.bound = launch.value("bound", "");
    time.why = launch.value("why", "");
    time.checked = launch.value("checked", true);
    time.busiest = 0;
    if (const auto shares = launch.find("shares"); shares != launch.end()) {
      for (const json& share : *shares) time.busiest = std::max(time.busiest, share.get<double>());
      time.reached = shares->value(time.bound, 0.0);
    }
  }
  for (Kernel& kernel : profile.kernels)
    if (const auto found = times.find({kernel.full_name, sizes(kernel.grid), sizes(kernel.block)});
        found != times.end())
      kernel.modelled = found->second;
}

std::string bound_text(const ModelledTime& time) {
  if (!time.why.empty()) return fmt::format("{}: {}", time.bound, time.why);
  if (time.bound == "latency")
    return fmt::format("latency: no part of the GPU is busy for more than {:.0f} % of the time",
                       100 * std::min(1.0, time.busiest));
  if (time.bound == "idle") return "idle: there are fewer blocks than SMs";
  if (time.bound == "launch") return "launch: it is little more than an empty kernel";
  if (time.reached > 0)
    return fmt::format("{}: it reaches {:.0f} % of its peak", time.bound,
                       100 * std::min(1.0, time.reached));
  return time.bound;
}

std::string modelled_text(const Kernel& kernel, const GpuSpec& gpu) {
  if (!kernel.modelled) return "";
  const ModelledTime& time = *kernel.modelled;
  return fmt::format("modelled for {}: {}{} ({}), bound by {}{}", gpu.name, short_time(time.us),
                     kernel.launches > 1 ? " per launch" : "", limits(time), bound_text(time),
                     time.checked ? "" : fmt::format(" ({})", model::kUnchecked));
}

double saved_us(const Kernel& kernel, double part) {
  return kernel.modelled ? part * kernel.modelled->own_us : 0;
}

double cost_of(const Profile& profile, const Kernel& kernel, const GpuSpec& gpu) {
  const bool all = std::ranges::all_of(profile.kernels,
                                       [](const Kernel& one) { return one.modelled.has_value(); });
  return all ? kernel.modelled->us * double(kernel.launches) : time_of(kernel, gpu).total();
}

}  // namespace ridge::tools::profile
