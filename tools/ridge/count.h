// The file through which the software GPU tells how many instructions a program executed.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace ridge::tools {

class CountFile {
 public:
  explicit CountFile(bool wanted) {
    if (!wanted) return;
    path_ = std::filesystem::temp_directory_path() / "ridge-count-XXXXXX";
    const int file = mkstemp(path_.data());
    if (file >= 0) close(file);
  }
  ~CountFile() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove(path_, error);
  }
  CountFile(const CountFile&) = delete;
  CountFile& operator=(const CountFile&) = delete;

  const std::string& path() const { return path_; }

  // Nothing where the program never got as far as the device.
  std::optional<uint64_t> warp_instructions() const {
    std::ifstream file(path_);
    const auto record = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || !record.contains("warp_instructions")) return std::nullopt;
    return record["warp_instructions"].get<uint64_t>();
  }

 private:
  std::string path_;
};

}  // namespace ridge::tools
