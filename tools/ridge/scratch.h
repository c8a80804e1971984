// A folder for files between us and a program we start, gone when we are.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace ridge::tools {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "ridge-XXXXXX";  // mkdtemp's
    if (mkdtemp(name.data())) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    if (ready()) std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  bool ready() const { return !path_.empty(); }  // errno says why not
  std::filesystem::path operator/(const char* file) const { return path_ / file; }

 private:
  std::filesystem::path path_;
};

}  // namespace ridge::tools
