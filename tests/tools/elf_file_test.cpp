// The ELF reader on this very program, and on every kind of damage to it.
#include "elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace ridge::tools {
namespace {

// In its own section, as nvcc's device code is.
[[gnu::section(".nv_fatbin"), gnu::used]] const char device_code[] = "not really";

// A function of cuBLAS, as a program has it that was linked with libcublas_static.
extern "C" [[gnu::used]] int cublasCreate_v2(void*) { return 1; }

std::vector<uint8_t> this_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

// A small file with the same structure: header, two segments, dynamic section, strings.
std::vector<uint8_t> small_program() {
  struct {
    Elf64_Ehdr header = {};
    Elf64_Phdr segments[2] = {};
    Elf64_Dyn dynamic[5] = {};
    char strings[64] = "\0libcudart.so.13\0/opt/lib\0$ORIGIN/lib";
  } file;
  const auto offset = [&](const void* part) {
    return uint64_t(static_cast<const char*>(part) - reinterpret_cast<const char*>(&file));
  };
  std::memcpy(file.header.e_ident, ELFMAG, SELFMAG);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_ident[EI_DATA] = ELFDATA2LSB;
  file.header.e_type = ET_DYN;
  file.header.e_machine = EM_X86_64;
  file.header.e_phoff = offset(file.segments);
  file.header.e_phentsize = sizeof(Elf64_Phdr);
  file.header.e_phnum = 2;
  constexpr uint64_t kBase = 0x400000;
  file.segments[0] = {.p_type = PT_LOAD,
                      .p_flags = 0,
                      .p_offset = 0,
                      .p_vaddr = kBase,
                      .p_paddr = 0,
                      .p_filesz = sizeof file,
                      .p_memsz = sizeof file,
                      .p_align = 1};
  file.segments[1] = {.p_type = PT_DYNAMIC,
                      .p_flags = 0,
                      .p_offset = offset(file.dynamic),
                      .p_vaddr = kBase + offset(file.dynamic),
                      .p_paddr = 0,
                      .p_filesz = sizeof file.dynamic,
                      .p_memsz = sizeof file.dynamic,
                      .p_align = 8};
  file.dynamic[0] = {DT_NEEDED, {1}};
  file.dynamic[1] = {DT_RPATH, {17}};
  file.dynamic[2] = {DT_RUNPATH, {26}};
  file.dynamic[3] = {DT_STRTAB, {kBase + offset(file.strings)}};
  const auto* bytes = reinterpret_cast<const uint8_t*>(&file);
  return {bytes, bytes + sizeof file};
}

TEST(ElfFile, ReadsThisProgram) {
  const auto facts = read_elf(this_program());
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_TRUE(facts->x86_64);
  EXPECT_TRUE(facts->dynamic);
  EXPECT_TRUE(facts->fat_binary);
  EXPECT_NE(std::find(facts->needed.begin(), facts->needed.end(), "libc.so.6"),
            facts->needed.end());
}

TEST(ElfFile, SeesWhatIsLinkedStatically) {
  std::vector<uint8_t> program = this_program();
  EXPECT_EQ(read_elf(program)->closed, std::vector<std::string>{"cuBLAS"});
  EXPECT_FALSE(read_elf(small_program())->static_runtime);
  const uint8_t id[] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                        0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
  program = small_program();  // without sections, as a stripped one may be
  program.insert(program.end(), std::begin(id), std::end(id));
  EXPECT_TRUE(read_elf(program)->static_runtime);
}

TEST(ElfFile, ReadsNeededAndPaths) {
  const auto facts = read_elf(small_program());
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->needed, std::vector<std::string>{"libcudart.so.13"});
  EXPECT_EQ(facts->rpath, "/opt/lib");
  EXPECT_EQ(facts->runpath, "$ORIGIN/lib");
  EXPECT_FALSE(facts->fat_binary);
}

TEST(ElfFile, RefusesWhatIsNoProgram) {
  const auto refusal = [](std::string text) {
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    const auto facts = read_elf(bytes);
    return facts ? "" : facts.error().message;
  };
  EXPECT_NE(refusal("").find("neither"), std::string::npos);
  EXPECT_NE(refusal("#!/bin/sh\n").find("neither"), std::string::npos);
  EXPECT_NE(refusal("\177ELF").find("damaged"), std::string::npos);
  EXPECT_FALSE(read_elf(std::filesystem::path("/tmp")));
  EXPECT_FALSE(read_elf(std::filesystem::path("/nowhere")));
}

TEST(ElfFile, SurvivesEveryTruncation) {
  const std::vector<uint8_t> whole = small_program();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + long(size));
    EXPECT_FALSE(read_elf(part)) << size;
  }
}

TEST(ElfFile, SurvivesEveryBadByte) {
  for (std::vector<uint8_t> program : {small_program(), this_program()}) {
    const std::vector<uint8_t> whole = program;
    const size_t header_bytes = std::min<size_t>(whole.size(), 4096);
    for (size_t i = 0; i < header_bytes; ++i)
      for (const uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
        program[i] = value;
        (void)read_elf(program);  // any answer will do; the sanitizers watch
        program[i] = whole[i];
      }
  }
}

TEST(ElfFile, SurvivesRandomDamage) {
  std::mt19937 random(1);
  const std::vector<uint8_t> whole = small_program();
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> program = whole;
    for (int i = 0; i < 8; ++i) program[random() % program.size()] = uint8_t(random());
    (void)read_elf(program);
  }
}

}  // namespace
}  // namespace ridge::tools
