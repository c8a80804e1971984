#include "elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "core/closed_libraries.h"
#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

Error not_elf(const char* why) { return {kUsage, std::string("is not a program: ") + why}; }
Error damaged(const char* what) {
  return {kUsage,
          std::string("is a damaged or truncated program: its ") + what + " lies outside the file"};
}

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> file) : file_(file) {}

  // The i-th T of a table at `offset`, if the file reaches that far.
  template <class T>
  std::optional<T> at(uint64_t offset, uint64_t i = 0) const {
    if (offset > file_.size() || i >= (file_.size() - offset) / sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, file_.data() + offset + i * sizeof(T), sizeof(T));
    return value;
  }

  // The text from `offset` to the next zero byte.
  std::optional<std::string_view> text(uint64_t offset) const {
    if (offset >= file_.size()) return std::nullopt;
    const uint8_t* begin = file_.data() + offset;
    const void* end = std::memchr(begin, 0, file_.size() - offset);
    if (!end) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(begin),
                            size_t(static_cast<const uint8_t*>(end) - begin));
  }

  bool holds(uint64_t offset, uint64_t size) const {
    return offset <= file_.size() && size <= file_.size() - offset;
  }

 private:
  std::span<const uint8_t> file_;
};

// Where the loader would find the byte at an address.
std::optional<uint64_t> offset_of(const std::vector<Elf64_Phdr>& segments, uint64_t address) {
  for (const Elf64_Phdr& s : segments)
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
      return s.p_offset + (address - s.p_vaddr);
  return std::nullopt;
}

Status read_dynamic(const Reader& file, const std::vector<Elf64_Phdr>& segments,
                    const Elf64_Phdr& dynamic, ElfFacts& facts) {
  if (!file.holds(dynamic.p_offset, dynamic.p_filesz)) return damaged("dynamic section");
  std::vector<Elf64_Dyn> entries;
  for (uint64_t i = 0; i < dynamic.p_filesz / sizeof(Elf64_Dyn); ++i) {
    const auto entry = file.at<Elf64_Dyn>(dynamic.p_offset, i);
    if (!entry || entry->d_tag == DT_NULL) break;
    entries.push_back(*entry);
  }
  std::optional<uint64_t> strings;
  for (const Elf64_Dyn& entry : entries)
    if (entry.d_tag == DT_STRTAB) strings = offset_of(segments, entry.d_un.d_ptr);
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    if (!strings || entry.d_un.d_val > UINT64_MAX - *strings) return damaged("string table");
    const auto text = file.text(*strings + entry.d_un.d_val);
    if (!text) return damaged("string table");
    if (entry.d_tag == DT_NEEDED) facts.needed.emplace_back(*text);
    if (entry.d_tag == DT_RPATH) facts.rpath = *text;
    if (entry.d_tag == DT_RUNPATH) facts.runpath = *text;
  }
  return Status::ok();
}

// Sections are not needed to run a program and may have been stripped, so nothing here is an error.
class Sections {
 public:
  Sections(const Reader& file, const Elf64_Ehdr& header) : file_(file) {
    if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return;
    for (uint64_t i = 0; i < header.e_shnum; ++i)
      if (const auto section = file.at<Elf64_Shdr>(header.e_shoff, i)) all_.push_back(*section);
    if (header.e_shstrndx < all_.size()) names_ = all_[header.e_shstrndx].sh_offset;
  }

  std::optional<Elf64_Shdr> find(const char* name) const {
    for (const Elf64_Shdr& section : all_)
      if (names_ && text(*names_, section.sh_name) == name) return section;
    return std::nullopt;
  }

  // Calls `visit` with the name of each function that the file defines, as far as it has names.
  void for_each_function(const std::function<void(std::string_view)>& visit) const {
    for (const Elf64_Shdr& section : all_) {
      if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
      if (section.sh_link >= all_.size()) continue;
      const uint64_t strings = all_[section.sh_link].sh_offset;
      for (uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
        const auto symbol = file_.at<Elf64_Sym>(section.sh_offset, i);
        if (!symbol) break;
        if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) continue;
        if (const auto name = text(strings, symbol->st_name)) visit(*name);
      }
    }
  }

 private:
  std::optional<std::string_view> text(uint64_t strings, uint64_t at) const {
    return at > UINT64_MAX - strings ? std::nullopt : file_.text(strings + at);
  }
  const Reader& file_;
  std::vector<Elf64_Shdr> all_;
  std::optional<uint64_t> names_;
};

// The identifier by which the CUDA runtime asks the driver for its functions. Besides those two,
// only what the static runtime is linked into holds these bytes; stripping does not remove them.
constexpr uint8_t kStaticRuntime[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                        0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

bool has_static_runtime(std::span<const uint8_t> bytes, const Sections& sections) {
  if (const auto constants = sections.find(".rodata"))
    if (constants->sh_offset <= bytes.size())
      bytes = bytes.subspan(constants->sh_offset,
                            std::min(constants->sh_size, bytes.size() - constants->sh_offset));
  return memmem(bytes.data(), bytes.size(), kStaticRuntime, sizeof kStaticRuntime) != nullptr;
}

std::vector<std::string> closed_inside(const Sections& sections) {
  std::vector<std::string> names;
  sections.for_each_function([&](std::string_view function) {
    if (!function.starts_with("cu") && !function.starts_with("n")) return;
    for (const ClosedLibrary& library : closed_libraries())
      if (library.function == function && !std::ranges::count(names, library.name))
        names.emplace_back(library.name);
  });
  return names;
}

// The file the loader would take for a needed library, in the usual places.
std::optional<fs::path> find_library(const std::string& name, const ElfFacts& user,
                                     const fs::path& origin) {
  std::string folders = user.rpath + ":" + user.runpath;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) folders += std::string(":") + path;
  folders +=
      ":/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib"
      ":/usr/local/lib";
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    std::string folder = folders.substr(begin, end - begin);
    begin = end + 1;
    for (const std::string& word : {std::string("$ORIGIN"), std::string("${ORIGIN}")})
      if (const size_t at = folder.find(word); at != std::string::npos)
        folder.replace(at, word.size(), origin.string());
    std::error_code error;
    if (!folder.empty() && fs::is_regular_file(fs::path(folder) / name, error))
      return fs::path(folder) / name;
  }
  return std::nullopt;
}

// A closed library brings all that it needs, and none of that can run here: it is not looked into.
void follow(const ElfFacts& facts, const fs::path& path, std::set<std::string>& seen,
            CudaUse& use) {
  for (const std::string& name : facts.needed) {
    if (!seen.insert(name).second) continue;
    if (name.starts_with("libcudart.so")) {
      if (use.runtime.empty()) use.runtime = name;
      continue;
    }
    if (name.starts_with("libcuda.so")) continue;
    if (find_closed_library(name)) {
      use.closed.push_back(name);
      continue;
    }
    const auto library = find_library(name, facts, path.parent_path());
    if (!library) continue;
    const auto its_facts = read_elf(*library);
    if (!its_facts) continue;
    if (its_facts->static_runtime) use.static_runtime.push_back(name);
    follow(*its_facts, *library, seen, use);
  }
}

}  // namespace

Expected<ElfFacts> read_elf(std::span<const uint8_t> bytes) {
  const Reader file(bytes);
  const auto header = file.at<Elf64_Ehdr>(0);
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return not_elf("neither a .cu file nor an ELF executable");
  if (!header) return damaged("header");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return not_elf("not a 64-bit little-endian ELF file");
  if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
    return not_elf("an object file; link it first");
  if (header->e_phnum > 0 && header->e_phentsize != sizeof(Elf64_Phdr))
    return damaged("program header");

  ElfFacts facts;
  facts.x86_64 = header->e_machine == EM_X86_64;
  std::vector<Elf64_Phdr> segments;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = file.at<Elf64_Phdr>(header->e_phoff, i);
    if (!segment) return damaged("program header");
    if (segment->p_type == PT_LOAD && !file.holds(segment->p_offset, segment->p_filesz))
      return damaged("code");
    segments.push_back(*segment);
  }
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_DYNAMIC) {
      facts.dynamic = true;
      if (const Status read = read_dynamic(file, segments, segment, facts); !read)
        return read.error();
    }
  const Sections sections(file, *header);
  facts.fat_binary = sections.find(".nv_fatbin").has_value();
  facts.kernels = sections.find("__nv_module_id").has_value();
  facts.static_runtime = has_static_runtime(bytes, sections);
  if (facts.fat_binary) facts.closed = closed_inside(sections);
  return facts;
}

Expected<ElfFacts> read_elf(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Error{kUsage, std::string("cannot be read: ") + std::strerror(errno)};
  struct stat status = {};
  fstat(file, &status);
  if (S_ISDIR(status.st_mode)) {
    close(file);
    return not_elf("a folder");
  }
  if (status.st_size == 0) {
    close(file);
    return not_elf("an empty file");
  }
  void* memory = mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    return Error{kUsage, std::string("cannot be read: ") + std::strerror(errno)};
  auto facts = read_elf(std::span(static_cast<const uint8_t*>(memory), size_t(status.st_size)));
  munmap(memory, size_t(status.st_size));
  return facts;
}

Expected<CudaUse> inspect_program(const fs::path& path) {
  auto facts = read_elf(path);
  if (!facts) return facts.error();
  CudaUse use;
  std::set<std::string> seen;
  follow(*facts, path, seen, use);
  use.program = std::move(*facts);
  return use;
}

}  // namespace ridge::tools
