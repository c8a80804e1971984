#include "rung.h"

#include <filesystem>

#include "ladders.h"

namespace ridge::tools {

namespace fs = std::filesystem;

bool names_rung(const std::string& file) {
  std::error_code error;
  const size_t slash = file.find('/');
  return slash != std::string::npos && slash > 0 && file.find('/', slash + 1) == file.npos &&
         file.find('.') == file.npos && !fs::exists(file, error) &&
         !fs::is_directory(file.substr(0, slash), error);
}

Expected<std::pair<std::string, std::string>> find_rung(const Target& target,
                                                        const std::string& word) {
  const auto ladders = list_ladders(target);
  if (!ladders) return ladders.error();
  const std::string name = word.substr(0, word.find('/')), wanted = word.substr(name.size() + 1);
  const auto rung = rung_name(*ladders, name, wanted);
  if (!rung) return rung.error();
  return std::pair(name, *rung);
}

}  // namespace ridge::tools
