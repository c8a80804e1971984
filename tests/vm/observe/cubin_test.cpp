// The PTX that machine code has a copy of.
#include "vm/observe/cubin.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace ridge::vm::observe {
namespace {

// An ELF file with nothing but this section and the names.
std::string cubin(const std::string& name, const std::string& contents) {
  const std::string strings = std::string("\0.shstrtab\0", 11) + name + '\0';
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof header + strings.size() + contents.size();
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = strings.size();
  sections[2].sh_name = 11;
  sections[2].sh_offset = sizeof header + strings.size();
  sections[2].sh_size = contents.size();
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file += strings + contents;
  return file.append(reinterpret_cast<const char*>(sections), sizeof sections);
}

const std::string kPtx =
    "// made by\n.version 9.0\n.loc 1 2 3\n ld.shared.f32 \t%f1, [%r1]; // x\nret;\n";
std::string copy(std::string text) {
  for (char& c : text)
    if (c == '|') c = '\0';
  return cubin(".nv_debug_ptx_txt", text);
}

TEST(Cubin, OfItsPtx) {
  EXPECT_TRUE(is_made_from(copy("|.version 9.0||ld.shared.f32 %f1,[%r1];|ret;|"), kPtx));
}

TEST(Cubin, OfAnother) {
  EXPECT_FALSE(is_made_from(copy("|.version 9.0||ld.shared.f64 %f1,[%r1];|ret;|"), kPtx));
  EXPECT_FALSE(
      is_made_from(copy(".version 9.0||ld.shared.f32 %f1,[%r1];|ret;|"), kPtx));  // shifted
  EXPECT_FALSE(is_made_from(copy("|.version 9.0||ld.shared.f32 %f1,[%r1];|ret;|}|"), kPtx));
  EXPECT_FALSE(is_made_from(cubin(".text.k", ".version 9.0"), kPtx));
  EXPECT_FALSE(is_made_from(copy("|||"), kPtx));
}

TEST(Cubin, Damaged) {
  const std::string whole = copy("|.version 9.0||ld.shared.f32 %f1,[%r1];|ret;|");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(is_made_from(std::string_view(whole).substr(0, size), kPtx)) << size;
  for (size_t at = 0; at < whole.size(); ++at) {  // wherever it is wrong, nothing bad is read
    std::string wrong = whole;
    wrong[at] = char(0xff);
    is_made_from(wrong, kPtx);
  }
}

}  // namespace
}  // namespace ridge::vm::observe
