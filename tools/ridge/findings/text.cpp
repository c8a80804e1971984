#include "findings/text.h"

#include <unistd.h>

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "terminal.h"
#include "vm/report/text.h"

namespace ridge::tools {

std::string to_text(const Findings& findings, size_t most) {
  std::string out;
  std::map<std::string, size_t> kinds;
  size_t told = 0;
  bool lines_missing = false;
  const vm::report::TextStyle style{.colour = vm::report::wants_colour(STDERR_FILENO),
                                    .excerpt = true};
  for (const Finding& f : findings.all) {
    ++kinds[f.kind];
    for (const auto* p : {&f.first.place, &f.second.place})
      lines_missing |= p->ptx_line && p->file.empty();
    if (++told <= most) out += vm::report::to_text(f, style) + "\n";
  }
  if (told > most)
    out += fmt::format("{} more are not shown (--max-reports {})\n", told - most, told);
  if (lines_missing) out += "source lines need -lineinfo: rebuild the program with it\n";
  if (!findings.suppressed.empty())
    out += fmt::format("{} finding{} suppressed\n", findings.suppressed.size(),
                       findings.suppressed.size() == 1 ? " is" : "s are");
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
  nlohmann::json all = nlohmann::json::array();
  for (const Finding& f : findings.all)
    all.push_back(nlohmann::json::parse(vm::report::to_json(f)));
  return {{"findings", all},
          {"suppressed", findings.suppressed.size()},
          {"launches", findings.launches},
          {"finished", findings.finished}};
}

}  // namespace ridge::tools
