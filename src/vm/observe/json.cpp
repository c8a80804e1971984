#include "vm/observe/json.h"

#include <string_view>

namespace ridge::vm::observe {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + '"';
}

const char* name_of(Reach reach) {
  switch (reach) {
    case Reach::global: return "global";
    case Reach::shared: return "shared";
    case Reach::local: return "local";
    case Reach::none: break;
  }
  return "";
}
const char* name_of(Action action) {
  switch (action) {
    case Action::load: return "ld";
    case Action::store: return "st";
    case Action::reduction: return "red";
    case Action::atomic: return "atom";
  }
  return "";
}

void write(std::FILE* file, const InstructionProfile& one) {
  const Counters& c = one.counters;
  const auto number = [&](const char* key, uint64_t value) {
    if (value) std::fprintf(file, ", \"%s\": %llu", key, static_cast<unsigned long long>(value));
  };
  std::fprintf(file, "{\"ptx\": %s, \"ptx_line\": %u", quoted(one.mnemonic).c_str(), one.ptx_line);
  if (!one.file.empty())
    std::fprintf(file, ", \"file\": %s, \"line\": %u", quoted(one.file).c_str(), one.line);
  if (one.site.reach != Reach::none)
    std::fprintf(file, ", \"reach\": \"%s\", \"action\": \"%s\", \"bytes\": %u",
                 one.site.generic ? "generic" : name_of(one.site.reach), name_of(one.site.action),
                 unsigned(one.site.bytes));
  number("warps", c.warps);
  number("threads", c.threads);
  number("requests", c.requests);
  number("sectors", c.sectors);
  number("lines", c.lines);
  number("bytes_used", c.bytes_used);
  number("shared_requests", c.shared_requests);
  number("wavefronts", c.wavefronts);
  number("ideal_wavefronts", c.ideal_wavefronts);
  std::fprintf(file, "}");
}

}  // namespace

void write_json(std::FILE* file, std::span<const LaunchProfile> launches) {
  for (const LaunchProfile& launch : launches) {
    std::fprintf(file,
                 "{\"kernel\": %s, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], "
                 "\"registers\": %u, \"static_shared\": %u, \"dynamic_shared\": %u, "
                 "\"local_bytes\": %u, \"instructions\": [",
                 quoted(launch.kernel).c_str(), launch.grid.x, launch.grid.y, launch.grid.z,
                 launch.block.x, launch.block.y, launch.block.z, launch.usage.registers,
                 launch.usage.static_shared, launch.dynamic_shared, launch.usage.local_bytes);
    bool first = true;
    for (const InstructionProfile& one : launch.instructions) {
      std::fprintf(file, first ? "\n  " : ",\n  ");
      write(file, one);
      first = false;
    }
    std::fprintf(file, "]}\n");
  }
}

}  // namespace ridge::vm::observe
