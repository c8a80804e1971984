#include "vm/cudart/origin.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <string_view>

namespace ridge::vm::cudart {
namespace {

// Where the program itself was loaded.
const void* program_base() {
  Dl_info info = {};
  const auto headers = reinterpret_cast<const void*>(getauxval(AT_PHDR));
  return headers && dladdr(headers, &info) ? info.dli_fbase : nullptr;
}

}  // namespace

std::string library_at(const void* address) {
  Dl_info info = {};
  if (!dladdr(address, &info) || !info.dli_fname || info.dli_fbase == program_base()) return {};
  const std::string_view path = info.dli_fname;
  return std::string(path.substr(path.find_last_of('/') + 1));
}

std::string owner_at(const void* address) {
  Dl_info info = {};
  if (!dladdr(address, &info)) return "the module";
  const std::string library = library_at(address);
  return library.empty() ? "the program" : library;
}

}  // namespace ridge::vm::cudart
