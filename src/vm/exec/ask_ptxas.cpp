#include "vm/exec/ask_ptxas.h"

#include <stdlib.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/mix.h"
#include "vm/exec/tool.h"

namespace ridge::vm {
namespace {

namespace fs = std::filesystem;

std::string setting(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? text : "";
}

// Where the directive or body that starts at `at` ends: behind its ';' or its closing brace.
size_t end_of_item(std::string_view ptx, size_t at) {
  for (int depth = 0; at < ptx.size(); ++at) {
    if (ptx.substr(at, 2) == "//") {
      at = ptx.find('\n', at);
      if (at == ptx.npos) return ptx.size();
    } else if (ptx.substr(at, 2) == "/*") {
      at = ptx.find("*/", at);
      if (at == ptx.npos) return ptx.size();
    } else if (ptx[at] == '{') {
      ++depth;
    } else if (ptx[at] == '}') {
      if (--depth == 0) return at + 1;
    } else if (ptx[at] == ';' && depth == 0) {
      return at + 1;
    }
  }
  return ptx.size();
}

void append_without_lines(std::string& out, std::string_view item) {
  for (size_t at = 0; at < item.size();) {
    const size_t end = std::min(item.find('\n', at), item.size() - 1) + 1;
    const std::string_view line = item.substr(at, end - at);
    const size_t word = line.find_first_not_of(" \t");
    const std::string_view rest = word == line.npos ? "" : line.substr(word);
    if (!rest.starts_with(".loc") && !rest.starts_with(".file")) out += line;
    at = end;
  }
}

// Whether this is the kernel's name, and not only the beginning of it.
bool names(std::string_view head, std::string_view kernel) {
  const size_t at = head.find(kernel);
  if (at == head.npos) return false;
  const size_t end = at + kernel.size();
  return end == head.size() ||
         std::string_view(" \t\r\n(").find(head[end]) != std::string_view::npos;
}

// The number that ends right before `words`; 0 where they are not there.
uint32_t number_before(std::string_view text, std::string_view words) {
  const size_t at = text.find(words);
  if (at == text.npos) return 0;
  size_t begin = at;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  uint32_t value = 0;
  std::from_chars(text.data() + begin, text.data() + at, value);
  return value;
}

std::string key_of(std::string_view text, const std::string& architecture) {
  uint64_t a = mixed(architecture.size() + text.size()), b = mixed(a);
  const auto take = [&](std::string_view part) {
    for (const char c : part) a = (a ^ uint8_t(c)) * 0x100000001b3ull, b = mixed(b + a);
  };
  take(architecture);
  take(text);
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
  return name;
}

std::optional<PtxasUsage> run_ptxas(const std::string& ptxas, const std::string& text,
                                    const std::string& architecture) {
  std::string folder = (fs::temp_directory_path() / "ridge-ptxas-XXXXXX").string();
  if (!mkdtemp(folder.data())) return std::nullopt;
  const std::string ptx = folder + "/kernel.ptx", said = folder + "/said";
  std::ofstream(ptx, std::ios::binary) << text;
  const std::string why =
      run_tool({ptxas, "-v", "-arch", architecture, "-o", "/dev/null", ptx}, "/dev/null", said);
  std::ifstream in(said);
  const std::string words{std::istreambuf_iterator<char>(in), {}};
  std::error_code error;
  fs::remove_all(folder, error);
  const size_t used = words.find("Used ");
  if (!why.empty() || used == words.npos) return std::nullopt;
  return PtxasUsage{number_before(words.substr(used), " registers"),
                    number_before(words, " bytes spill stores")};
}

}  // namespace

std::string ptxas_architecture(const Module& module, const GpuSpec& gpu) {
  const std::string& target = module.target;
  if (!target.empty() && (target.back() == 'a' || target.back() == 'f')) return target;
  return "sm_" + std::to_string(gpu.major) + std::to_string(gpu.minor);
}

std::string with_one_kernel(std::string_view ptx, std::string_view kernel) {
  std::string out;
  for (size_t at = 0; at < ptx.size();) {
    const size_t end = end_of_item(ptx, at);
    const std::string_view item = ptx.substr(at, end - at);
    const std::string_view head = item.substr(0, item.find('{'));
    at = end;
    if (head.find(".section") != head.npos) continue;
    const size_t entry = head.find(".entry");
    if (entry != head.npos && !names(head.substr(entry), kernel)) {
      // Directives that end without a semicolon may stand before it: .version, .target.
      append_without_lines(out, head.substr(0, head.rfind('\n', entry) + 1));
      continue;
    }
    append_without_lines(out, item);
  }
  return out;
}

std::optional<PtxasUsage> ask_ptxas(const Module& module, const Function& entry,
                                    const GpuSpec& gpu) {
  static const std::string ptxas = setting("RIDGE_PTXAS"), cache = setting("RIDGE_PTXAS_CACHE");
  if (ptxas.empty()) return std::nullopt;
  const std::string text = with_one_kernel(module.text, entry.name);
  const std::string architecture = ptxas_architecture(module, gpu);
  const std::string kept = cache.empty() ? "" : cache + '/' + key_of(text, architecture);
  if (std::ifstream in(kept); in) {
    PtxasUsage known;
    if (in >> known.registers >> known.spilled) return known;
  }
  const auto usage = run_ptxas(ptxas, text, architecture);
  if (usage && !kept.empty()) {  // as a whole, or not at all
    const std::string made = kept + '.' + std::to_string(getpid());
    std::ofstream(made) << usage->registers << ' ' << usage->spilled << '\n';
    std::error_code error;
    fs::rename(made, kept, error);
  }
  return usage;
}

}  // namespace ridge::vm
