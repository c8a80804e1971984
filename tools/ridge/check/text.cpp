#include "check/text.h"

#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "terminal.h"

namespace ridge::tools::check {
namespace {

// As the user types it, where it lies below the current folder.
std::string shown(const std::string& file) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + "/";
  return file.starts_with(here) ? file.substr(here.size()) : file;
}

std::string place(const Party& p) {
  if (p.file.empty()) return p.ptx_line ? fmt::format("PTX line {}: {}", p.ptx_line, p.ptx) : p.ptx;
  return fmt::format("{}:{}", shown(p.file), p.line);
}

std::string source_line(const std::string& file, uint32_t line) {
  std::ifstream in(file);
  std::string text;
  for (uint32_t k = 0; k < line && std::getline(in, text); ++k) {
  }
  if (!in) return {};
  const size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t\r");
  return from == text.npos ? "" : text.substr(from, to - from + 1);
}

// Templates name themselves at length.
std::string short_name(const std::string& kernel) {
  constexpr size_t kLong = 60;
  if (kernel.size() < kLong) return kernel;
  const std::string name = kernel.substr(0, kernel.find('<'));
  return name.substr(name.rfind(' ') + 1) + "<…>";
}

std::string headline(const Finding& f) {
  static const std::map<std::string, std::string> names = {
      {"race", "race in {} memory"},
      {"race-recheck", "read before an atomic that looks again, in {} memory"},
      {"race-any-winner", "several threads store in one place of {} memory"},
      {"uninitialised", "uninitialised read of {} memory"},
      {"async", "asynchronous copy used too early ({} memory)"},
      {"barrier", "divergent barrier"},
      {"mask", "wrong mask of a warp"},
      {"out-of-bounds", "access out of bounds"},
      {"use-after-free", "use after free"},
      {"misaligned", "misaligned access"},
      {"deadlock", "barrier or wait that is never met"},
      {"fault", "fault"},
      {"invalid-free", "wrong free"},
      {"invalid-copy", "wrong copy"},
      {"leak", "leak"},
      {"schedule", "the result depends on the order of threads"}};
  const auto found = names.find(f.kind);
  std::string text = found == names.end() ? f.kind : found->second;
  if (const size_t at = text.find("{}"); at != text.npos) text.replace(at, 2, f.space);
  if (!f.kernel.empty()) text += ", kernel " + short_name(f.kernel);
  return text;
}

void add_party(std::string& out, const Party& p) {
  if (!p.there()) return;
  out += fmt::format("  {:<7} {}  by {}\n", p.act, place(p), p.who);
  if (!p.inside.empty())
    out += fmt::format("          in {}\n", shown(p.inside.substr(0, p.inside.find(" < "))));
  if (const std::string text = source_line(p.file, p.line); !text.empty())
    out += "          " + dim(text) + "\n";
}

// The report that the software GPU prints when a kernel faults, without its first line.
std::string body_of_report(const std::string& report) {
  const size_t end = report.find('\n');
  return end == report.npos ? "  " + report + "\n" : report.substr(end + 1) + "\n";
}

}  // namespace

std::string to_text(const Findings& findings, size_t most) {
  std::string out;
  std::map<std::string, size_t> kinds;
  size_t told = 0;
  bool lines_missing = false;
  for (const Finding& f : findings.all) {
    ++kinds[f.kind];
    for (const Party* p : {&f.first, &f.second}) lines_missing |= p->ptx_line && p->file.empty();
    if (++told > most) continue;
    out += bold(headline(f)) + "\n";
    if (f.what.starts_with("ridge: ")) out += body_of_report(f.what);
    else out += "  " + f.what + "\n";
    add_party(out, f.first);
    add_party(out, f.second);
    if (!f.memory.empty() && f.kind != "leak")
      out += fmt::format("  at      {} ({})\n", f.memory, f.address);
    if (!f.fix.empty()) out += "  fix     " + f.fix + "\n";
    if (f.count > 1) out += fmt::format("  seen    {} times\n", thousands(f.count));
    if (f.seed) out += fmt::format("  under   --seed {}\n", f.seed);
    out += "\n";
  }
  if (told > most)
    out += fmt::format("{} more are not shown (--max-reports {})\n", told - most, told);
  if (lines_missing) out += "source lines need -lineinfo: rebuild the program with it\n";
  if (!findings.finished)
    out += "the program did not come to its end: leaks are not known, counts are not final\n";
  if (findings.all.empty())
    return out + fmt::format("no hazards in {} launch{}\n", thousands(findings.launches),
                             findings.launches == 1 ? "" : "es");
  std::string list;
  for (const auto& [kind, count] : kinds)
    list += fmt::format("{}{}{}", list.empty() ? "" : ", ", kind,
                        count == 1 ? "" : fmt::format(" × {}", count));
  return out + fmt::format("{} finding{}: {}\n", findings.all.size(),
                           findings.all.size() == 1 ? "" : "s", list);
}

nlohmann::json to_json(const Findings& findings) {
  const auto side = [](const Party& p) {
    nlohmann::json json = {{"act", p.act}, {"who", p.who}};
    if (!p.file.empty()) json.update({{"file", p.file}, {"line", p.line}});
    if (!p.inside.empty()) json["inside"] = p.inside;
    if (p.ptx_line) json["ptx_line"] = p.ptx_line;
    json["instruction"] = p.ptx;
    return json;
  };
  nlohmann::json all = nlohmann::json::array();
  for (const Finding& f : findings.all) {
    nlohmann::json json = {{"kind", f.kind}, {"what", f.what}, {"fix", f.fix}, {"count", f.count}};
    for (const auto& [key, value] :
         {std::pair("space", &f.space), std::pair("kernel", &f.kernel),
          std::pair("address", &f.address), std::pair("memory", &f.memory),
          std::pair("file", &f.file), std::pair("fix_kind", &f.fix_kind),
          std::pair("scope", &f.scope)})
      if (!value->empty()) json[key] = *value;
    if (f.line) json["line"] = f.line;
    if (f.other_line) json["other_line"] = f.other_line;
    if (f.first.there()) json["first"] = side(f.first);
    if (f.second.there()) json["second"] = side(f.second);
    if (f.seed) json["seed"] = f.seed;
    for (const Edit& e : f.edits)
      json["edits"].push_back({{"file", e.file}, {"line", e.line}, {"from", e.from}, {"to", e.to}});
    all.push_back(std::move(json));
  }
  return {{"findings", all}, {"launches", findings.launches}, {"finished", findings.finished}};
}

}  // namespace ridge::tools::check
