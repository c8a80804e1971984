#include "record.h"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verb.h"

namespace ridge::tools {

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
