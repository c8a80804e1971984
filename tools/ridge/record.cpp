#include "record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
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

namespace {

// Indented, but for arrays of plain values, which have one line each: a record has one file per
// family, and its samples would otherwise have one line per number.
void dump(const nlohmann::json& value, const std::string& indent, std::string& out) {
  const auto is_plain = [](const nlohmann::json& v) { return v.is_primitive(); };
  const bool plain = value.is_array() && std::ranges::all_of(value, is_plain);
  if (!value.is_structured() || value.empty()) {
    out += value.dump();
    return;
  }
  const std::string inside = plain ? "" : indent + "  ";
  out += value.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (!first) out += plain ? ", " : ",";
    if (!plain) out += "\n" + inside;
    if (value.is_object()) out += nlohmann::json(key).dump() + ": ";
    dump(item, inside, out);
    first = false;
  }
  if (!plain) out += "\n" + indent;
  out += value.is_object() ? "}" : "]";
}

}  // namespace

Status write_text(const std::string& text, const std::string& file) {
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

Status write_record(const nlohmann::json& record, const std::string& file) {
  std::string text;
  dump(record, "", text);
  return write_text(text + "\n", file);
}

}  // namespace ridge::tools
