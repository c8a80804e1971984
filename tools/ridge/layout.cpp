#include "layout.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

Layout find_layout() {
  const fs::path root = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  std::error_code error;
  Layout found;
  found.installed = fs::exists(root / "lib" / "ridge" / "vm", error);
  const fs::path ridge = root / "lib" / "ridge";
  found.software_gpu = found.installed ? ridge / "vm" : root / "lib";
  found.programs = found.installed ? ridge : root / "programs";
  if (!found.installed) found.headers.push_back(fs::weakly_canonical(root / "headers", error));
  found.headers.push_back(fs::weakly_canonical(root / "include", error));
  found.torch_rivals = root / "rivals" / "torch_rivals.py";
  return found;
}

// Whether the folder is there, or could be made, and files can be put into it.
bool is_usable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return access(folder.c_str(), W_OK | X_OK) == 0 && fs::is_directory(folder, error);
}

// A name in /tmp can be taken by anyone: the folder has to be ours, and nobody else's to write.
bool is_private(const fs::path& folder) {
  struct stat status;
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

}  // namespace

const Layout& layout() {
  static const Layout found = find_layout();
  return found;
}

Expected<fs::path> find_part(const char* what, const fs::path& file) {
  std::error_code error;
  if (fs::exists(file, error)) return file;
  return Error{kMissing, fmt::format("{} not there: {} is missing; {}", what, file.string(),
                                     layout().installed ? "install Ridge again: ./ridge install"
                                                        : "./ridge build makes it")};
}

Expected<fs::path> cache_folder() {
  std::vector<fs::path> wanted;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    wanted.push_back(fs::path(cache) / "ridge");
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    wanted.push_back(fs::path(home) / ".cache" / "ridge");
  for (const fs::path& folder : wanted)
    if (is_usable(folder)) return folder;
  std::error_code error;
  const fs::path own = fs::temp_directory_path(error) / fmt::format("ridge-{}", geteuid());
  mkdir(own.c_str(), 0700);
  if (is_private(own) && is_usable(own)) return own;
  return Error{kMissing,
               fmt::format("there is no folder for compiled programs: {} is not this user's alone, "
                           "or cannot be written; set XDG_CACHE_HOME to a folder that can",
                           own.string())};
}

}  // namespace ridge::tools
