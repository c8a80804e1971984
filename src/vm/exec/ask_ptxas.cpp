#include "vm/exec/ask_ptxas.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
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

// The same text with spaces for comments and strings, so that braces and words in them do not
// count.
std::string blanked(std::string_view ptx) {
  std::string out(ptx);
  const auto blank = [&](size_t from, size_t end) {
    for (; from < end; ++from)
      if (out[from] != '\n') out[from] = ' ';
    return end;
  };
  const auto behind = [&](std::string_view what, size_t from) {
    const size_t at = ptx.find(what, from);
    return at == ptx.npos ? ptx.size() : at + what.size();
  };
  for (size_t at = 0; at < ptx.size();) {
    if (ptx.substr(at, 2) == "//") at = blank(at, behind("\n", at));
    else if (ptx.substr(at, 2) == "/*") at = blank(at, behind("*/", at + 2));
    else if (ptx[at] == '"') at = blank(at, behind("\"", at + 1));
    else ++at;
  }
  return out;
}

// Where the directive or body that starts at `at` ends: behind its ';' or its closing brace.
size_t end_of_item(std::string_view code, size_t at) {
  for (int depth = 0; at < code.size(); ++at) {
    if (code[at] == '{') ++depth;
    else if (code[at] == '}' && --depth == 0) return at + 1;
    else if (code[at] == ';' && depth == 0) return at + 1;
  }
  return code.size();
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

// The name that comes first in the text.
std::string_view first_name(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(begin, text.find_first_of(" \t\r\n(){;", begin) - begin);
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
  constexpr std::string_view kEntry = ".entry";
  const std::string code = blanked(ptx);
  std::string out;
  for (size_t at = 0, end = 0; at < ptx.size(); at = end) {
    end = end_of_item(code, at);
    const std::string_view item = ptx.substr(at, end - at);
    const std::string_view whole = std::string_view(code).substr(at, end - at);
    const std::string_view head = whole.substr(0, whole.find('{'));
    size_t dropped = head.find(".section");
    const size_t entry = head.find(kEntry);
    if (entry != head.npos && first_name(head.substr(entry + kEntry.size())) != kernel)
      dropped = entry;
    // Directives that end without a semicolon may stand before it: .version, .target.
    append_without_lines(
        out, dropped == head.npos ? item : item.substr(0, head.rfind('\n', dropped) + 1));
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
