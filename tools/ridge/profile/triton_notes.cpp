#include "profile/triton_notes.h"

#include <filesystem>

#include <fmt/format.h>

#include "terminal.h"

namespace ridge::tools::profile {

using nlohmann::json;

json read_triton_notes(std::istream& wire) {
  json kernels = json::array();
  for (std::string line; std::getline(wire, line);)
    if (json one = json::parse(line, nullptr, /*allow_exceptions=*/false);
        one.is_object() && one.contains("lines") && !one["lines"].empty())
      kernels.push_back(std::move(one));
  return kernels;
}

std::string triton_notes_text(const json& kernels) {
  std::string text;
  for (const json& kernel : kernels) {
    text += fmt::format("\nwhat Triton made of {}\n", bold(std::string(kernel["kernel"])));
    for (const json& one : kernel["lines"])
      text += fmt::format("  {}:{}  {}\n",
                          std::filesystem::path(std::string(one["file"])).filename().string(),
                          int(one["line"]), std::string(one["text"]));
  }
  return text;
}

}  // namespace ridge::tools::profile
