#include "rung.h"

#include <filesystem>

#include "families.h"
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

Expected<FoundRung> find_rung(const Target& target, const std::string& word, bool quiet) {
  const auto catalogue = Catalogue::ask(target);
  if (!catalogue) return catalogue.error();
  const std::string name = word.substr(0, word.find('/')), wanted = word.substr(name.size() + 1);
  const auto rung = catalogue->rung_name(name, wanted);
  if (!rung) return rung.error();
  const auto found = catalogue->find(name);
  if (const Status built = need_family(found->family->name, quiet); !built) return built.error();
  return FoundRung{found->family->name, *found->op, *rung};
}

}  // namespace ridge::tools
