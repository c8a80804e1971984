// The file through which the software GPU tells how many instructions were executed.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "scratch.h"

namespace ridge::tools {

class CountFile {
 public:
  explicit CountFile(bool wanted) {
    if (wanted && folder_.emplace().ready()) path_ = *folder_ / "count.json";
  }

  const std::string& path() const { return path_; }  // empty: nothing is counted

  // Nothing, if the program ended before it used the device.
  std::optional<uint64_t> warp_instructions() const {
    std::ifstream file(path_);
    const auto record = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || !record.contains("warp_instructions")) return std::nullopt;
    return record["warp_instructions"].get<uint64_t>();
  }

 private:
  std::optional<ScratchFolder> folder_;
  std::string path_;
};

}  // namespace ridge::tools
