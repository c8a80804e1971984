#include "vm/observe/cubin.h"

#include <elf.h>

#include <cstring>
#include <string>

namespace ridge::vm::observe {
namespace {

template <class T>
bool read(std::string_view file, uint64_t offset, T& out) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, file.data() + offset, sizeof(T));
  return true;
}

std::string_view part(std::string_view file, uint64_t offset, uint64_t size) {
  if (offset > file.size() || file.size() - offset < size) return {};
  return file.substr(offset, size);
}

std::string_view section(std::string_view file, std::string_view wanted) {
  Elf64_Ehdr header;
  Elf64_Shdr names, one;
  if (!read(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto at = [&](uint64_t index) { return header.e_shoff + index * sizeof(Elf64_Shdr); };
  if (!read(file, at(header.e_shstrndx), names)) return {};
  const std::string_view strings = part(file, names.sh_offset, names.sh_size);
  for (uint64_t i = 0; i < header.e_shnum && read(file, at(i), one); ++i) {
    if (one.sh_name >= strings.size()) continue;
    const std::string_view name = strings.substr(one.sh_name);
    if (name.substr(0, name.find('\0')) == wanted) return part(file, one.sh_offset, one.sh_size);
  }
  return {};
}

// Up to the first of `ends`, which is taken off `text`.
std::string_view next_line(std::string_view& text, char end) {
  const size_t at = text.find(end);
  const std::string_view line = text.substr(0, at);
  text = at == text.npos ? std::string_view() : text.substr(at + 1);
  return line;
}

std::string essence(std::string_view line) {
  std::string out;
  for (const char c : line.substr(0, line.find("//")))
    if (c != ' ' && c != '\t' && c != '\r') out += c;
  return out;
}

}  // namespace

bool is_made_from(std::string_view cubin, std::string_view ptx) {
  std::string_view copy = section(cubin, ".nv_debug_ptx_txt");  // a line ends with a zero
  bool any = false;
  while (!copy.empty()) {
    const std::string kept = essence(next_line(copy, '\0'));
    const std::string_view line = next_line(ptx, '\n');
    if (kept.empty()) continue;
    if (kept != essence(line)) return false;
    any = true;
  }
  return any;
}

}  // namespace ridge::vm::observe
