#include "vm/observe/json.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/text.h"

namespace ridge::vm::observe {
namespace {

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

Source source_of(const TensorWork& work) {
  if (!work.instructions) return Source::none;
  switch (work.source) {
    case Element::f16: return Source::f16;
    case Element::bf16: return Source::bf16;
    case Element::tf32: return Source::tf32;
    case Element::e4m3:
    case Element::e5m2: return Source::fp8;
    case Element::s8:
    case Element::u8: return Source::int8;
    case Element::b1: return Source::int1;
    case Element::f64: return Source::f64;
    default: return Source::none;
  }
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

// Lanes' addresses as distances from the active lane before, in runs: "ffffffff 4096 4*31".
std::string text_of(const Access& access) {
  char mask[16];
  std::snprintf(mask, sizeof mask, "%08x ", access.mask);
  std::string text = mask;
  bool first = true;
  uint64_t before = 0;
  int64_t step = 0;
  int run = 0;
  const auto end_run = [&] {
    if (run) text += ' ' + std::to_string(step) + (run > 1 ? '*' + std::to_string(run) : "");
  };
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!(access.mask >> lane & 1)) continue;
    const uint64_t at = access.address[lane];
    if (first) {
      text += std::to_string(at);
    } else if (const auto distance = int64_t(at - before); run && distance == step) {
      ++run;
    } else {
      end_run();
      step = distance;
      run = 1;
    }
    first = false;
    before = at;
  }
  end_run();
  return text;
}

// What is kept of an instruction's accesses, each with the number of accesses that it stands for.
void write(std::FILE* file, const char* key, const std::vector<const Seen*>& workers) {
  uint64_t count = 0;
  uint32_t bytes = 0;
  std::map<std::string, double> sample;
  Seen::Staging staging;
  std::map<uint32_t, std::string> of_block;
  for (const Seen* seen : workers) {
    count += seen->count();
    staging.requests += seen->staging().requests;
    staging.moved += seen->staging().moved;
    staging.once += seen->staging().once;
    for (const Access& access : seen->sample()) {
      sample[text_of(access)] += double(seen->count()) / double(seen->sample().size());
      bytes = access.bytes;
    }
    for (const SeenAccess& one : seen->of_block())
      of_block.try_emplace(one.warp, text_of(one.access));
  }
  if (!count) return;
  std::fprintf(file, ", \"%s\": {\"bytes\": %u, \"accesses\": [", key, bytes);
  const char* comma = "";
  for (const auto& [text, weight] : sample) {
    std::fprintf(file, "%s\"%.6g %s\"", comma, weight, text.c_str());
    comma = ", ";
  }
  std::fprintf(file, "], \"block\": [");
  comma = "";
  for (const auto& [warp, text] : of_block) {
    std::fprintf(file, "%s\"%u %s\"", comma, warp, text.c_str());
    comma = ", ";
  }
  std::fprintf(file, "]");
  if (staging.requests)
    std::fprintf(file, ", \"requests\": %llu, \"moved\": %llu, \"once\": %llu",
                 static_cast<unsigned long long>(staging.requests),
                 static_cast<unsigned long long>(staging.moved),
                 static_cast<unsigned long long>(staging.once));
  std::fprintf(file, "}");
}

void write(std::FILE* file, const InstructionProfile& one) {
  const auto number = [&](const char* key, uint64_t value) {
    if (value) std::fprintf(file, ", \"%s\": %llu", key, static_cast<unsigned long long>(value));
  };
  std::fprintf(file, "{\"ptx\": %s, \"ptx_line\": %u", in_quotes(one.mnemonic).c_str(),
               one.ptx_line);
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
    if (one.touch.peers) std::fprintf(file, ", \"peers\": true");
    if (one.touch.bulk == Bulk::to_peer) std::fprintf(file, ", \"bulk\": true");
    if (one.width != one.touch.bytes) std::fprintf(file, ", \"width\": %u", one.width);
    if (one.unclear) std::fprintf(file, ", \"unclear\": true");
  }
  if (const Source source = source_of(one.tensor); source != Source::none)
    std::fprintf(file, ", \"source\": \"%s\"%s%s", observe::name_of(source),
                 one.tensor.sparse ? ", \"sparse\": true" : "",
                 one.tensor.by_warpgroup ? ", \"warpgroup\": true" : "");
  number("merged_into", one.merged_into);
  if (one.waits) std::fprintf(file, ", \"waits\": true");
  for (const Counter& counter : kCounters) number(counter.name, one.counters.*counter.field);
  if (one.split.warps)
    std::fprintf(file, ", \"split\": {\"warps\": %llu, \"mask\": \"%08x\", \"taken\": \"%08x\"}",
                 static_cast<unsigned long long>(one.split.warps), one.split.mask, one.split.taken);
  if (one.worst.cost) write(file, one.worst);
  write(file, "seen_global", one.seen_global);
  write(file, "seen_shared", one.seen_shared);
  if (one.end)
    std::fprintf(file, ", \"range\": [%llu, %llu]", static_cast<unsigned long long>(one.lowest),
                 static_cast<unsigned long long>(one.end));
  if (!one.function.empty())
    std::fprintf(file, ", \"function\": %s", in_quotes(one.function).c_str());
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
  if (!launch.notes.title.empty())
    std::fprintf(file, "\"title\": %s, ", in_quotes(launch.notes.title).c_str());
  if (!launch.notes.tensors.empty()) {
    std::fprintf(file, "\"tensors\": [");
    for (const auto& tensor : launch.notes.tensors)
      std::fprintf(file, "%s%s", &tensor == launch.notes.tensors.data() ? "" : ", ",
                   in_quotes(tensor.name).c_str());
    std::fprintf(file, "], ");
  }
  if (launch.sampling_error > 0)
    std::fprintf(file, "\"sampling_error\": %.4f, ", launch.sampling_error);
  if (!launch.not_sampled.empty())
    std::fprintf(file, "\"not_sampled\": %s, ", in_quotes(launch.not_sampled).c_str());
  std::fprintf(file, "\"widths\": \"%s\", ", launch.machine_code ? "machine code" : "model");
  if (!launch.no_machine_code.empty())
    std::fprintf(file, "\"no_machine_code\": %s, ", in_quotes(launch.no_machine_code).c_str());
  if (!launch.ptxas_said.empty())
    std::fprintf(file, "\"ptxas_said\": %s, ", in_quotes(launch.ptxas_said).c_str());
  std::fprintf(file, "\"arrays\": [");
  for (size_t i = 0; i < launch.arrays.size(); ++i)
    std::fprintf(file, "%s{\"name\": %s, \"at\": %u, \"bytes\": %u}", i ? ", " : "",
                 in_quotes(launch.arrays[i].name).c_str(), launch.arrays[i].at,
                 launch.arrays[i].bytes);
  std::fprintf(file, "], \"instructions\": [");
  bool first = true;
  for (const InstructionProfile& one : launch.instructions) {
    std::fprintf(file, first ? "\n  " : ",\n  ");
    write(file, one);
    first = false;
  }
  std::fprintf(file, "]}\n");
}

}  // namespace ridge::vm::observe
