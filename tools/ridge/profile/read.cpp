#include "profile/read.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "profile/read_seen.h"
#include "verb.h"
#include "vm/report/finding.h"

namespace ridge::tools::profile {
namespace {

using nlohmann::json;
using vm::report::function_name;

std::string without_namespaces(const std::string& name) {
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (depth == 0 && name[i] == ':' && name[i + 1] == ':') begin = i + 2;
  }
  return name.substr(begin);
}

uint64_t number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<uint64_t>() : 0;
}
std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
bool is_true(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

Size size(const json& object, const char* key) {
  Size size;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->size() != 3) return size;
  uint32_t* const out[] = {&size.x, &size.y, &size.z};
  for (size_t i = 0; i < 3; ++i)
    if ((*found)[i].is_number()) *out[i] = (*found)[i].get<uint32_t>();
  return size;
}

// The word with this name, up to `last`; the first one where none has it.
template <class Word>
Word word(const std::string& name, Word last) {
  for (int k = 0; k <= int(last); ++k)
    if (name == name_of(Word(k))) return Word(k);
  return Word(0);
}

Reach reach_of(const std::string& name) {
  return name == "generic" ? Reach::global : word(name, Reach::surface);
}

std::optional<Access> access(const json& object, uint32_t bytes) {
  const auto found = object.find("worst");
  if (found == object.end() || !found->is_object()) return std::nullopt;
  Access access;
  access.bytes = number(*found, "bytes") ? uint32_t(number(*found, "bytes")) : std::max(bytes, 1u);
  access.mask = uint32_t(std::strtoul(text(*found, "mask").c_str(), nullptr, 16));
  access.base = number(*found, "least");
  access.cost = number(*found, "cost");
  access.warps = number(*found, "warps");
  const auto addresses = found->find("addresses");
  if (addresses == found->end() || !addresses->is_array()) return std::nullopt;
  for (size_t i = 0; i < std::min<size_t>(32, addresses->size()); ++i)
    if ((*addresses)[i].is_number()) access.address[i] = (*addresses)[i].get<uint64_t>();
  return access.mask ? std::optional(access) : std::nullopt;
}

std::optional<Split> split(const json& object) {
  const auto found = object.find("split");
  if (found == object.end() || !found->is_object()) return std::nullopt;
  const auto hex = [&](const char* key) {
    return uint32_t(std::strtoul(text(*found, key).c_str(), nullptr, 16));
  };
  return Split{hex("mask"), hex("taken"), number(*found, "warps")};
}

// Headers that come with the compiler, whose lines are no use to a reader.
bool is_library(const std::string& file) {
  for (const char* part :
       {"/crt/", "/cccl/", "/cub/", "/thrust/", "/cuda/std/", "/cooperative_groups",
        "/usr/include/", "/usr/lib/", "/cuda/include/", "_functions.h", "/cuda_fp16.h",
        "/cuda_bf16.h", "/cuda_fp8.h", "/targets/x86_64-linux/include/"})
    if (file.find(part) != std::string::npos) return true;
  return false;
}

// The innermost place that is the user's own.
void find_place(Instruction& one, const json& object) {
  one.file = text(object, "file");
  one.line = uint32_t(number(object, "line"));
  const auto outer = object.find("inlined_at");
  if (!is_library(one.file) || outer == object.end() || !outer->is_array()) return;
  for (const json& place : *outer) {
    if (!place.is_object() || is_library(text(place, "file"))) continue;
    one.library =
        fmt::format("{}:{}", std::filesystem::path(one.file).filename().string(), one.line);
    one.file = text(place, "file");
    one.line = uint32_t(number(place, "line"));
    return;
  }
}

Instruction instruction(const json& object, double scale) {
  Instruction one;
  one.ptx = text(object, "ptx");
  one.ptx_line = uint32_t(number(object, "ptx_line"));
  find_place(one, object);
  one.unit = text(object, "unit");
  one.reach = reach_of(text(object, "reach"));
  one.action = word(text(object, "action"), Action::operand);
  one.source = word(text(object, "source"), Source::f64);
  one.sparse = is_true(object, "sparse");
  one.warpgroup = is_true(object, "warpgroup");
  one.peers = is_true(object, "peers");
  one.bulk = is_true(object, "bulk");
  one.bytes = uint32_t(number(object, "bytes"));
  one.merged_into = uint32_t(number(object, "merged_into"));
  one.unclear = is_true(object, "unclear");
  one.waits = is_true(object, "waits");
  for (const Counter& counter : kCounters)
    one.counters.*counter.field =
        uint64_t(std::llround(double(number(object, counter.name)) * scale));
  // Where ptxas merges neighbours the machine moves more than the PTX says.
  one.width = number(object, "width") ? uint32_t(number(object, "width")) : one.bytes;
  one.worst = access(object, one.width);
  one.split = split(object);
  one.seen_global = read_seen(object, "seen_global", scale);
  one.seen_shared = read_seen(object, "seen_shared", scale);
  one.function = text(object, "function");
  read_range(object, one);
  // A generic access is what its lanes turned out to reach.
  one.matrices = object.value("matrices", false);
  one.generic = text(object, "reach") == "generic";
  if (one.generic && one.counters.wavefronts > one.counters.sectors) one.reach = Reach::shared;
  return one;
}

void add(Instruction& sum, const Instruction& one) {
  sum.counters += one.counters;
  if (one.split && !sum.split) sum.split = one.split;
  add(sum.seen_global, one.seen_global);
  add(sum.seen_shared, one.seen_shared);
  if (!sum.end) sum.lowest = one.lowest;
  if (one.end) sum.lowest = std::min(sum.lowest, one.lowest);
  sum.end = std::max(sum.end, one.end);
  if (!one.worst) return;
  if (!sum.worst || sum.worst->cost < one.worst->cost) sum.worst = one.worst;
  else if (sum.worst->cost == one.worst->cost) sum.worst->warps += one.worst->warps;
}

bool same(const Instruction& a, const Instruction& b) {
  return a.ptx_line == b.ptx_line && a.line == b.line && a.ptx == b.ptx && a.file == b.file &&
         a.action == b.action;
}

// Two lists in the order of the PTX, either with instructions that the other never reached.
void add(std::vector<Instruction>& sum, std::vector<Instruction> more) {
  size_t at = 0;
  for (Instruction& one : more) {
    size_t found = at;
    while (found < sum.size() && !same(sum[found], one)) ++found;
    if (found < sum.size()) {
      add(sum[found], one);
      at = found + 1;
      continue;
    }
    const auto place = std::find_if(sum.begin() + long(at), sum.end(), [&](const Instruction& i) {
      return i.ptx_line > one.ptx_line;
    });
    const auto added = sum.insert(place, std::move(one));
    at = size_t(added - sum.begin()) + 1;
  }
}

Kernel launch(const json& object) {
  Kernel kernel;
  kernel.mangled = text(object, "kernel");
  kernel.full_name = function_name(kernel.mangled);
  kernel.name = without_namespaces(kernel.full_name);
  if (const std::string title = text(object, "title"); !title.empty())  // a launcher's own
    kernel.name = kernel.full_name = title;
  if (object.contains("tensors"))
    for (const json& one : object["tensors"])
      if (one.is_string()) kernel.tensors.push_back(one);
  kernel.launches = 1;
  kernel.grid = size(object, "grid");
  kernel.block = size(object, "block");
  kernel.blocks = number(object, "blocks") ? number(object, "blocks") : kernel.grid.count();
  kernel.blocks_run = object.contains("blocks_run") ? number(object, "blocks_run") : kernel.blocks;
  kernel.not_sampled = text(object, "not_sampled");
  kernel.faulted = is_true(object, "faulted");
  kernel.machine_code = text(object, "widths") == "machine code";
  kernel.no_machine_code = text(object, "no_machine_code");
  kernel.ptxas_said = text(object, "ptxas_said");
  kernel.resources = {.registers = uint32_t(number(object, "registers")),
                      .static_shared = uint32_t(number(object, "static_shared")),
                      .dynamic_shared = uint32_t(number(object, "dynamic_shared")),
                      .local_bytes = uint32_t(number(object, "local_bytes"))};
  if (const auto arrays = object.find("arrays"); arrays != object.end() && arrays->is_array())
    for (const json& one : *arrays)
      if (one.is_object())
        kernel.arrays.push_back(
            {own_name(text(one, "name")), number(one, "at"), number(one, "bytes")});
  const double scale =
      kernel.sampled() && kernel.blocks_run ? double(kernel.blocks) / double(kernel.blocks_run) : 1;
  if (const auto list = object.find("instructions"); list != object.end() && list->is_array())
    for (const json& one : *list)
      if (one.is_object()) kernel.instructions.push_back(instruction(one, scale));
  // What the compiler made up has line 0: it belongs to what stands before it.
  const Instruction* before = nullptr;
  for (Instruction& one : kernel.instructions) {
    if (!one.file.empty() && one.line == 0 && before)
      one.file = before->file, one.line = before->line;
    before = &one;
  }
  return kernel;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string short_name(const std::string& mangled) {
  return without_namespaces(function_name(mangled));
}

Expected<Profile> read_profile(std::istream& wire, const std::string& kernel) {
  Profile profile;
  std::string record;
  for (std::string line; std::getline(wire, line);) {
    // A launch begins at the left margin; its instructions are indented.
    record += line;
    if (!line.ends_with("]}") && !line.ends_with("}")) {
      if (!line.ends_with(",") && !line.ends_with("[")) record.clear();  // cut off
      continue;
    }
    const json object = json::parse(record, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) continue;  // not whole yet
    record.clear();
    Kernel one = launch(object);
    if (one.full_name.find(kernel) == std::string::npos &&
        one.mangled.find(kernel) == std::string::npos)
      continue;
    const auto known = std::ranges::find_if(profile.kernels, [&](const Kernel& k) {
      return k.mangled == one.mangled && k.full_name == one.full_name && k.tensors == one.tensors &&
             k.grid == one.grid && k.block == one.block &&
             k.resources.dynamic_shared == one.resources.dynamic_shared;
    });
    if (known == profile.kernels.end()) {
      profile.kernels.push_back(std::move(one));
      continue;
    }
    known->launches += 1;
    known->blocks += one.blocks;
    known->blocks_run += one.blocks_run;
    known->faulted |= one.faulted;
    add(known->instructions, std::move(one.instructions));
  }
  if (wire.bad()) return Error{kMissing, "the profile cannot be read"};
  return profile;
}

void read_ptx(Profile& profile, const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".ptx") continue;
    const std::vector<std::string> lines = lines_of(entry.path());
    for (const Kernel& kernel : profile.kernels)
      if (std::ranges::any_of(lines, [&](const std::string& line) {
            const size_t at = line.find(".entry " + kernel.mangled);
            if (at == std::string::npos) return false;
            const size_t end = at + 7 + kernel.mangled.size();
            return end == line.size() || line[end] == '(' || line[end] == ' ';
          })) {
        profile.ptx[kernel.mangled] = lines;
        profile.ptx_files[kernel.mangled] = entry.path();
      }
  }
}

void make_lines(Profile& profile) {
  for (Kernel& kernel : profile.kernels) {
    std::map<std::pair<std::string, uint32_t>, Line> lines;
    kernel.total = {};
    kernel.lines.clear();
    for (size_t i = 0; i < kernel.instructions.size(); ++i) {
      const Instruction& one = kernel.instructions[i];
      const uint32_t number = one.file.empty() ? one.ptx_line : one.line;
      Line& line = lines[{one.file, number}];
      line.file = one.file;
      line.line = number;
      line.counters += one.counters;
      line.unclear |= one.unclear;
      line.instructions.push_back(i);
      kernel.total += one.counters;
    }
    for (auto& [key, line] : lines) share_tiles(kernel, line);
    const auto ptx = profile.ptx.find(kernel.mangled);
    for (auto& [key, line] : lines) {
      const std::vector<std::string>* text = nullptr;
      if (line.file.empty()) {
        if (ptx != profile.ptx.end()) text = &ptx->second;
      } else {
        const auto [place, added] = profile.sources.try_emplace(line.file);
        if (added) place->second = lines_of(line.file);
        text = &place->second;
      }
      if (text && line.line >= 1 && line.line <= text->size()) line.text = (*text)[line.line - 1];
      kernel.lines.push_back(std::move(line));
    }
  }
}

}  // namespace ridge::tools::profile
