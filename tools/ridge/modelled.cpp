#include "modelled.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "layout.h"
#include "model/figures.h"
#include "terminal.h"
#include "toolkit.h"

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

// "copies to the device, 33.6 MB, not pinned"
std::string text_of_copies(const nlohmann::json& copy) {
  const std::string way = copy["way"];
  const std::string what = way == "to_device" ? "copies to the device"
                           : way == "to_host" ? "copies to the host"
                           : way == "fill"    ? "memsets"
                                              : "copies within the device";
  const double bytes = copy["bytes"];
  const std::string size = bytes < 1e3   ? fmt::format("{:.0f} bytes", bytes)
                           : bytes < 1e6 ? fmt::format("{:.1f} KB", bytes / 1e3)
                           : bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6)
                                         : fmt::format("{:.2f} GB", bytes / 1e9);
  return fmt::format("{}, {}{}", what, size, copy["pageable"].get<bool>() ? ", not pinned" : "");
}

}  // namespace

void ask_for_registers(Environment& environment) {
  const auto toolkit = find_toolkit();
  if (!toolkit) return;
  const std::filesystem::path ptxas = toolkit->root / "bin" / "ptxas";
  std::error_code error;
  if (!std::filesystem::exists(ptxas, error)) return;
  environment.emplace_back("RIDGE_PTXAS", ptxas);
  if (const auto cache = cache_folder("registers"))
    environment.emplace_back("RIDGE_PTXAS_CACHE", *cache);
}

nlohmann::json read_modelled(const std::string& path) {
  nlohmann::json summary = {{"copies", nlohmann::json::array()}};
  nlohmann::json kernels = nlohmann::json::array();
  std::map<std::string, size_t> known;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const auto launch = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!launch.is_object()) continue;
    if (launch.contains("total_us")) {  // the program has ended
      summary.update(launch);
      continue;
    }
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
  summary["kernels"] = std::move(kernels);
  return summary;
}

std::string modelled_table(const nlohmann::json& modelled, const std::string& gpu) {
  const nlohmann::json &kernels = modelled["kernels"], &copies = modelled["copies"];
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
  for (const auto& copy : copies)
    out += fmt::format("  {:>8}  {}  {}  {:<9}  {}\n", copy["count"].get<int64_t>(),
                       pad(time_text(copy["modelled_us"]), 10), pad("together", 23),
                       copy["bound"].get<std::string>(), text_of_copies(copy));
  if (const auto total = modelled.find("total_us"); total != modelled.end())
    out += fmt::format("In all {}, from the start of the first one to the end of the last\n",
                       time_text(total->get<double>()));
  return out;
}

}  // namespace ridge::tools
