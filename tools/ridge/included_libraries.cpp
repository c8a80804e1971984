#include "included_libraries.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <utility>

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"cublas_v2.h", "-lcublas"}, {"cublas_api.h", "-lcublas"}, {"cublas.h", "-lcublas"},
    {"cublasXt.h", "-lcublas"},  {"cublasLt.h", "-lcublasLt"},
};
constexpr size_t kMostFiles = 500;  // a project's headers, not all that lie in a system folder

// The folders of -I DIR, -IDIR and --include-path=DIR.
std::vector<fs::path> include_folders(const std::vector<std::string>& flags) {
  std::vector<fs::path> folders;
  for (size_t i = 0; i < flags.size(); ++i)
    for (const std::string name : {"-I", "--include-path="}) {
      if (!flags[i].starts_with(name)) continue;
      if (flags[i].size() > name.size()) folders.emplace_back(flags[i].substr(name.size()));
      else if (i + 1 < flags.size()) folders.emplace_back(flags[i + 1]);
    }
  return folders;
}

class Search {
 public:
  explicit Search(std::vector<fs::path> folders) : folders_(std::move(folders)) {}

  void look_into(const fs::path& file) {
    std::error_code error;
    if (seen_.size() >= kMostFiles || !seen_.insert(fs::weakly_canonical(file, error)).second)
      return;
    static const std::regex include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      std::smatch match;
      // Most lines are none: a regular expression takes its time.
      if (line.find("include") == line.npos || !std::regex_search(line, match, include)) continue;
      const std::string name = match[1];
      for (const auto& [header, flag] : kHeaders)
        if (name == header) found_.insert(flag);
      if (const fs::path next = find(name, file.parent_path()); !next.empty()) look_into(next);
    }
  }
  const std::set<std::string>& found() const { return found_; }

 private:
  fs::path find(const std::string& name, const fs::path& beside) const {
    std::error_code error;
    if (fs::is_regular_file(beside / name, error)) return beside / name;
    for (const fs::path& folder : folders_)
      if (fs::is_regular_file(folder / name, error)) return folder / name;
    return {};
  }
  std::vector<fs::path> folders_;
  std::set<fs::path> seen_;
  std::set<std::string> found_;
};

}  // namespace

std::vector<std::string> included_libraries(const fs::path& source,
                                            const std::vector<std::string>& flags) {
  Search search(include_folders(flags));
  search.look_into(source);
  std::vector<std::string> libraries;
  for (const std::string& flag : search.found())
    if (!std::ranges::count(flags, flag)) libraries.push_back(flag);
  return libraries;
}

}  // namespace ridge::tools
