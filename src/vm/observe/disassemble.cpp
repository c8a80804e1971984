#include "vm/observe/disassemble.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "vm/exec/ask_ptxas.h"
#include "vm/exec/tool.h"
#include "vm/observe/cubin.h"
#include "vm/observe/keep_ptx.h"

namespace ridge::vm::observe {
namespace {

constexpr const char* kNvdisasm = "RIDGE_PROFILE_NVDISASM";
constexpr const char* kPtxas = "RIDGE_PROFILE_PTXAS";

std::string setting(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? text : "";
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void read(Disassembled& out, const std::string& cubin, const std::string& stem) {
  const std::string text = stem + "sass";
  out.why_not = run_tool({setting(kNvdisasm), "-c", "-gp", cubin}, text, stem + "nvdisasm");
  if (!out.why_not.empty()) return;
  const std::string disassembly = contents(text);
  if (disassembly.find("//## File ") == std::string::npos)
    out.why_not = "nvdisasm shows no PTX lines";
  else out.code = read_disassembly(disassembly);
}

// The machine code that the program brought, where it has PTX lines.
Disassembled disassemble_own(const Program& program) {
  Disassembled out;
  constexpr size_t kLargest = 8 << 20;  // nvdisasm would take many seconds
  if (program.machine_code.empty() || program.machine_code.size() > kLargest) return out;
  const std::string ptx = keep_ptx(program);
  if (ptx.empty() || !is_made_from(program.machine_code, program.module->text)) return out;
  const std::string stem = ptx.substr(0, ptx.rfind('.')) + ".own.", cubin = stem + "cubin";
  std::ofstream(cubin, std::ios::binary) << program.machine_code;
  read(out, cubin, stem);
  return out;
}

// What ptxas makes of one kernel, or without a name of all of the module.
Disassembled disassemble(const Program& program, const Function* entry, const GpuSpec& gpu) {
  Disassembled out;
  const std::string ptx = keep_ptx(program), ptxas = setting(kPtxas);
  if (ptx.empty()) return out;
  if (ptxas.empty()) {
    out.why_not = "the program brings no machine code with PTX lines, and there is no ptxas";
    return out;
  }
  const std::string stem =
      ptx.substr(0, ptx.rfind('.')) + (entry ? '-' + std::to_string(entry->line) : "") + '.';
  const std::string cubin = stem + "cubin", said = stem + "ptxas";
  std::vector<std::string> command = {
      ptxas, "-v", "-lineinfo", "-arch", ptxas_architecture(*program.module, gpu), "-o", cubin};
  if (entry) command.insert(command.end(), {"-e", entry->name});
  command.push_back(ptx);
  out.why_not = run_tool(command, "/dev/null", said);
  if (!out.why_not.empty()) return out;
  out.ptxas_said = said;
  read(out, cubin, stem);
  return out;
}

}  // namespace

const Disassembled& Disassembler::of(const KernelCode& kernel, const GpuSpec& gpu) {
  const Program& program = *kernel.program;
  static const Disassembled unwanted, unoptimised{{}, "the program was not optimised", {}};
  if (setting(kNvdisasm).empty()) return unwanted;
  if (!program.module->optimised) return unoptimised;
  const auto [own, is_first] = own_.try_emplace(program.id);
  if (is_first) own->second = disassemble_own(program);
  if (own->second.code) return own->second;
  // nvdisasm takes half a second to start, which is as much as ptxas needs for many small kernels:
  // a small module is done at once, and a large one when several of its kernels were launched.
  constexpr size_t kSmall = 512 << 10, kSeveral = 4;
  const auto done = known_.find({program.id, &kernel});
  if (done != known_.end()) return done->second;
  size_t alone = 0;
  for (const auto& [key, known] : known_) alone += key.first == program.id && key.second;
  if (program.module->text.size() <= kSmall || alone >= kSeveral) {
    const auto [whole, is_new] = known_.try_emplace({program.id, nullptr});
    if (is_new) whole->second = disassemble(program, nullptr, gpu);
    if (whole->second.why_not.empty()) return whole->second;
  }
  return known_[{program.id, &kernel}] = disassemble(program, kernel.entry, gpu);
}

}  // namespace ridge::vm::observe
