#include "vm/observe/json.h"

#include <algorithm>
#include <string_view>

namespace ridge::vm::observe {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + '"';
}

const char* name_of(Unit unit) {
  switch (unit) {
    case Unit::alu: return "alu";
    case Unit::fma: return "fma";
    case Unit::fp64: return "fp64";
    case Unit::half: return "half";
    case Unit::sfu: return "sfu";
    case Unit::conv: return "conv";
    case Unit::move: return "move";
    case Unit::memory: return "memory";
    case Unit::shuffle: return "shuffle";
    case Unit::control: return "control";
    case Unit::barrier: return "barrier";
    case Unit::tensor: return "tensor";
    case Unit::texture: return "texture";
  }
  return "";
}

void write(std::FILE* file, const Worst& worst) {
  std::fprintf(file,
               ", \"worst\": {\"warps\": %llu, \"mask\": \"%08x\", \"cost\": %u, \"addresses\": [",
               static_cast<unsigned long long>(worst.warps), worst.mask, worst.cost);
  uint64_t least = ~0ull;
  for (uint32_t i = 0; i < 32; ++i)
    if (worst.mask >> i & 1) least = std::min(least, worst.address[i]);
  for (uint32_t i = 0; i < 32; ++i)
    std::fprintf(
        file, i ? ", %llu" : "%llu",
        worst.mask >> i & 1 ? static_cast<unsigned long long>(worst.address[i] - least) : 0ull);
  std::fprintf(file, "], \"least\": %llu}", static_cast<unsigned long long>(least));
}

void write(std::FILE* file, const InstructionProfile& one) {
  const Counters& c = one.counters;
  const auto number = [&](const char* key, uint64_t value) {
    if (value) std::fprintf(file, ", \"%s\": %llu", key, static_cast<unsigned long long>(value));
  };
  std::fprintf(file, "{\"ptx\": %s, \"ptx_line\": %u", in_quotes(one.mnemonic).c_str(), one.ptx_line);
  if (!one.file.empty())
    std::fprintf(file, ", \"file\": %s, \"line\": %u", in_quotes(one.file).c_str(), one.line);
  for (size_t i = 0; i < one.inlined_at.size(); ++i)
    std::fprintf(file, "%s{\"file\": %s, \"line\": %u}%s", i ? ", " : ", \"inlined_at\": [",
                 in_quotes(one.inlined_at[i].file).c_str(), one.inlined_at[i].line,
                 i + 1 < one.inlined_at.size() ? "" : "]");
  std::fprintf(file, ", \"unit\": \"%s\"", name_of(one.unit));
  if (one.touch.reach != Reach::none) {
    std::fprintf(file, ", \"reach\": \"%s\", \"action\": \"%s\", \"bytes\": %u",
                 one.touch.generic ? "generic" : name_of(one.touch.reach),
                 name_of(one.touch.action), unsigned(one.touch.bytes));
    if (one.touch.matrices) std::fprintf(file, ", \"matrices\": true");
    if (one.width != one.touch.bytes) std::fprintf(file, ", \"width\": %u", one.width);
    if (one.unclear) std::fprintf(file, ", \"unclear\": true");
  }
  number("merged_into", one.merged_into);
  number("warps", c.warps);
  number("threads", c.threads);
  number("requests", c.requests);
  number("sectors", c.sectors);
  number("lines", c.lines);
  number("bytes_used", c.bytes_used);
  number("shared_requests", c.shared_requests);
  number("wavefronts", c.wavefronts);
  number("ideal_wavefronts", c.ideal_wavefronts);
  number("conflicts", c.conflicts);
  number("wavefronts_by_line", c.by_line);
  number("probes", c.probes);
  number("switched_off", one.switched_off);
  number("fillers", one.fillers);
  number("branches", c.branches);
  number("divergent", c.divergent);
  number("barriers", c.barriers);
  if (c.split.warps)
    std::fprintf(file, ", \"split\": {\"warps\": %llu, \"mask\": \"%08x\", \"taken\": \"%08x\"}",
                 static_cast<unsigned long long>(c.split.warps), c.split.mask, c.split.taken);
  if (one.worst.cost) write(file, one.worst);
  std::fprintf(file, "}");
}

}  // namespace

void write_json(std::FILE* file, const LaunchProfile& launch) {
  std::fprintf(file,
               "{\"kernel\": %s, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], "
               "\"registers\": %u, \"static_shared\": %u, \"dynamic_shared\": %u, "
               "\"local_bytes\": %u, \"blocks\": %llu, \"blocks_run\": %llu, \"faulted\": %s, ",
               in_quotes(launch.kernel).c_str(), launch.grid.x, launch.grid.y, launch.grid.z,
               launch.block.x, launch.block.y, launch.block.z, launch.usage.registers,
               launch.usage.static_shared, launch.dynamic_shared, launch.usage.local_bytes,
               static_cast<unsigned long long>(launch.blocks),
               static_cast<unsigned long long>(launch.blocks_run),
               launch.faulted ? "true" : "false");
  if (launch.sampling_error > 0)
    std::fprintf(file, "\"sampling_error\": %.4f, ", launch.sampling_error);
  if (!launch.not_sampled.empty())
    std::fprintf(file, "\"not_sampled\": %s, ", in_quotes(launch.not_sampled).c_str());
  std::fprintf(file, "\"widths\": \"%s\", ", launch.machine_code ? "machine code" : "model");
  if (!launch.no_machine_code.empty())
    std::fprintf(file, "\"no_machine_code\": %s, ", in_quotes(launch.no_machine_code).c_str());
  if (!launch.ptxas_said.empty())
    std::fprintf(file, "\"ptxas_said\": %s, ", in_quotes(launch.ptxas_said).c_str());
  std::fprintf(file, "\"instructions\": [");
  bool first = true;
  for (const InstructionProfile& one : launch.instructions) {
    std::fprintf(file, first ? "\n  " : ",\n  ");
    write(file, one);
    first = false;
  }
  std::fprintf(file, "]}\n");
}

}  // namespace ridge::vm::observe
