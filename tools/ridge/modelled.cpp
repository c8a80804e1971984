#include "modelled.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/figures.h"
#include "terminal.h"

namespace ridge::tools {
namespace {

std::string text_of(const nlohmann::json& sizes) {
  std::string text = std::to_string(sizes[0].get<int64_t>());
  const bool is_deep = sizes[2] != 1;
  if (sizes[1] != 1 || is_deep) text += fmt::format("×{}", sizes[1].get<int64_t>());
  if (is_deep) text += fmt::format("×{}", sizes[2].get<int64_t>());
  return text;
}

// fmt counts bytes where a terminal counts characters.
std::string pad(const std::string& text, size_t width) {
  const size_t shown = text_width(text);
  return std::string(width > shown ? width - shown : 0, ' ') + text;
}

}  // namespace

nlohmann::json read_modelled(const std::string& path) {
  nlohmann::json kernels = nlohmann::json::array();
  std::map<std::string, size_t> known;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const auto launch = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!launch.is_object()) continue;
    const std::string key = launch["name"].dump() + launch["grid"].dump() + launch["block"].dump();
    const auto [at, is_new] = known.try_emplace(key, kernels.size());
    if (is_new) {
      kernels.push_back(launch);
      kernels.back()["launches"] = 1;
      continue;
    }
    nlohmann::json& sum = kernels[at->second];
    const double before = sum["launches"].get<double>();
    for (const char* time : {"modelled_us", "modelled_low_us", "modelled_high_us"})
      sum[time] = (sum[time].get<double>() * before + launch[time].get<double>()) / (before + 1);
    sum["launches"] = before + 1;
  }
  return kernels;
}

std::string modelled_table(const nlohmann::json& kernels, const std::string& gpu) {
  const auto is_checked = [](const nlohmann::json& kernel) {
    return kernel.value("checked", true);
  };
  std::string out =
      fmt::format("Modelled for {}, not measured: one launch between two events, cold L2\n", gpu);
  if (!std::ranges::all_of(kernels, is_checked))
    out +=
        fmt::format("  {}: its figures are published or derived, so the limits are twice as wide\n",
                    model::kUnchecked);
  out += "  launches        time  between                  bound      grid of blocks, kernel\n";
  for (const auto& kernel : kernels) {
    const std::string between = fmt::format("{} – {}", time_text(kernel["modelled_low_us"]),
                                            time_text(kernel["modelled_high_us"]));
    out +=
        fmt::format("  {:>8}  {}  {}  {:<9}  {} of {}, {}{}\n", kernel["launches"].get<int64_t>(),
                    pad(time_text(kernel["modelled_us"]), 10), pad(between, 23),
                    kernel["bound"].get<std::string>(), text_of(kernel["grid"]),
                    text_of(kernel["block"]), kernel["name"].get<std::string>(),
                    is_checked(kernel) ? "" : fmt::format(" ({})", model::kUnchecked));
  }
  return out;
}

}  // namespace ridge::tools
