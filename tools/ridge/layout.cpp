#include "layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "terminal.h"
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
  found.standins = found.installed ? ridge / "standin" : root / "standin";
  if (!found.installed) found.headers.push_back(fs::weakly_canonical(root / "headers", error));
  found.headers.push_back(fs::weakly_canonical(root / "include", error));
  found.torch_rivals = root / "rivals" / "torch_rivals.py";
  found.measure = root / "model" / "measure.py";
  found.triton_examples = root / "triton";
  return found;
}

// Whether the folder is there, or could be made, and files can be put into it; errno says why not.
// Only a file that is written tells for sure: the disk may be full, or read-only.
bool is_usable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) errno = error.value();
  if (!fs::is_directory(folder, error)) return false;
  std::string name = folder / "try-XXXXXX";  // mkostemp's
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, "x", 1) == 1;
  const int why = errno;
  close(file);
  unlink(name.c_str());
  errno = why;
  return written;
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

Expected<fs::path> cache_folder(const char* part) {
  std::vector<fs::path> wanted;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    wanted.push_back(fs::path(cache) / "ridge" / part);
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    wanted.push_back(fs::path(home) / ".cache" / "ridge" / part);
  std::string why;
  for (const fs::path& folder : wanted) {
    if (is_usable(folder)) return folder;
    if (why.empty()) why = fmt::format("{}: {}", folder.string(), std::strerror(errno));
  }
  std::error_code error;
  const fs::path own = fs::temp_directory_path(error) / fmt::format("ridge-{}", geteuid());
  mkdir(own.c_str(), 0700);
  if (is_private(own) && is_usable(own / part)) {
    complain(fmt::format("the compile cache cannot be written ({}); {} is used instead",
                         why.empty() ? "neither XDG_CACHE_HOME nor HOME is set" : why,
                         own.string()));
    return own / part;
  }
  return Error{kMissing,
               fmt::format("there is no folder for compiled programs: {} is not this user's alone, "
                           "or cannot be written; set XDG_CACHE_HOME to a folder that can",
                           own.string())};
}

}  // namespace ridge::tools
