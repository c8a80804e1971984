#include "targets.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "same_module.h"
#include "vm/cudart/fatbin.h"
#include "vm/cudart/ptx_link.h"
#include "vm/exec/engine.h"
#include "vm/parse/module.h"

namespace ridge::fuzz {
namespace {

// Larger ones are only slower: a fuzzer should not spend its time in memset.
constexpr uint64_t kUnpackLimit = 1 << 20;

void fatbin(std::string_view bytes) {
  using namespace vm::cudart;
  const auto images =
      read_container({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!images) return;
  for (const FatImage& image : *images) {
    (void)image.label();
    if (image.plain_size <= kUnpackLimit) (void)unpack(image);
  }
  (void)choose_ptx(*images, 9, 0);
}

void parse_all(std::string text) {
  auto module = vm::parse_module(std::move(text), "fuzz.ptx");
  if (!module) return;
  for (vm::Function& f : (*module)->functions) (void)vm::parse_body(**module, f);
}

void parse(std::string_view bytes) { parse_all(std::string(bytes)); }

void print(std::string_view bytes) {
  auto module = vm::parse_module(std::string(bytes), "fuzz.ptx");
  if (!module) return;
  const std::string differs = vm::round_trip(**module);
  if (differs.empty()) return;
  std::fprintf(stderr, "%s\n", differs.c_str());
  std::abort();
}

void link(std::string_view bytes) {
  std::vector<std::string> units(1);
  for (const char c : bytes)
    if (c) units.back() += c;
    else units.emplace_back();
  parse_all(vm::cudart::link_ptx(units));
}

void load(std::string_view bytes) {
  static vm::Engine& engine = [&]() -> vm::Engine& {
    GpuSpec gpu = *find_gpu("h200");
    gpu.memory_bytes = 1 << 24;
    static vm::Engine instance({.gpu = gpu, .threads = 1});
    return instance;
  }();
  (void)vm::cudart::check_target(bytes, 9, 0);
  const auto program = engine.load(std::string(bytes), "fuzz.ptx");
  if (!program) return;
  for (vm::Kernel* kernel : engine.kernels(*program)) (void)engine.usage(kernel);
  engine.unload(*program);
  if (engine.memory().used() != 0) std::abort();  // a module's variables outlived it
}

constexpr Target kTargets[] = {
    {"fatbin", fatbin}, {"parse", parse}, {"print", print}, {"link", link}, {"load", load}};

}  // namespace

std::span<const Target> targets() { return kTargets; }

void run(const Target& target, std::string_view bytes) {
  const auto copy = std::make_unique<char[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  target.run({copy.get(), bytes.size()});
}

}  // namespace ridge::fuzz
