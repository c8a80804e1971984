#include "record.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verb.h"

namespace ridge::tools {

namespace fs = std::filesystem;

Status check_writable(const std::string& path) {
  if (path.empty() || path == "-") return Status::ok();
  std::error_code error;
  const bool there = fs::exists(path, error);
  if (fs::is_directory(path, error))
    return Error{kMissing, fmt::format("cannot write {}: it is a folder", path)};
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    return Error{kMissing, fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  close(file);
  if (!there) fs::remove(path, error);
  return Status::ok();
}

Status write_record(const nlohmann::json& record, const std::string& file) {
  const std::string text = record.dump(2) + "\n";
  if (file == "-") {
    fmt::print("{}", text);
    return Status::ok();
  }
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) return Error{kMissing, fmt::format("cannot write {}", file)};
  return Status::ok();
}

}  // namespace ridge::tools
