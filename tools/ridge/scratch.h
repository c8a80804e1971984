// A temporary folder for files that we exchange with a program. It is removed at the end.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "ending.h"

namespace ridge::tools {

class ScratchFolder {
 public:
  ScratchFolder() : ScratchFolder(std::filesystem::temp_directory_path() / "ridge-") {}
  // In another place, or with another name: `prefix` and six letters.
  explicit ScratchFolder(const std::filesystem::path& prefix) {
    std::string name = prefix.string() + "XXXXXX";  // mkdtemp's
    if (!mkdtemp(name.data())) return;
    path_ = name;
    remove_at_the_end(path_);
  }
  ~ScratchFolder() {
    std::error_code error;
    if (!ready()) return;
    std::filesystem::remove_all(path_, error);
    already_removed(path_);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  bool ready() const { return !path_.empty(); }  // errno says why not
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& file) const { return path_ / file; }

 private:
  std::filesystem::path path_;
};

}  // namespace ridge::tools
