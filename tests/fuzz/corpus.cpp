#include "corpus.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <span>

#include "vm/cudart/fatbin.h"

namespace ridge::fuzz {
namespace {

using namespace vm::cudart;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A container starts with its magic number; what only looks like one does not read.
void add_containers(const std::string& file, Corpus& corpus, std::set<std::string>& seen) {
  const std::string_view magic(reinterpret_cast<const char*>(&kContainerMagic),
                               sizeof kContainerMagic);
  for (size_t at = 0; (at = file.find(magic, at)) != file.npos; at += magic.size()) {
    if (file.size() - at < 16) return;
    uint64_t body;
    std::memcpy(&body, file.data() + at + 8, sizeof body);
    if (body > file.size() - at - 16) continue;
    const std::string container = file.substr(at, 16 + body);
    const auto images =
        read_container({reinterpret_cast<const uint8_t*>(container.data()), container.size()});
    if (!images) continue;
    corpus.containers.push_back(container);
    for (const FatImage& image : *images) {
      if (image.kind != FatImage::Kind::ptx) continue;
      auto text = unpack(image);
      if (!text) continue;
      text->resize(std::strlen(text->c_str()));
      if (seen.insert(*text).second) corpus.ptx.push_back(*text);
    }
  }
}

}  // namespace

Corpus corpus_of(const std::filesystem::path& folder) {
  Corpus corpus;
  std::set<std::string> seen;
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    const std::string file = read_file(path);
    if (file.starts_with("\x7f"
                         "ELF"))
      add_containers(file, corpus, seen);
  }
  return corpus;
}

}  // namespace ridge::fuzz
