#include "vm/cudart/ptx_link.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

namespace ridge::vm::cudart {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

bool is_name(char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '$' || c == '%'; }

// Steps over one comment, string or character.
size_t step(std::string_view text, size_t at) {
  const auto behind = [&](std::string_view end, size_t from) {
    const size_t found = text.find(end, from);
    return found == text.npos ? text.size() : found + end.size();
  };
  if (text.substr(at, 2) == "//") return behind("\n", at);
  if (text.substr(at, 2) == "/*") return behind("*/", at + 2);
  if (text[at] == '"') return behind("\"", at + 1);
  return at + 1;
}

// The end of the statement that starts here: behind its ';', or behind the body of a function.
size_t statement_end(std::string_view text, size_t at) {
  int depth = 0;
  bool function = false;
  while (at < text.size()) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    if (depth == 0 && (rest.starts_with(".func") || rest.starts_with(".entry"))) function = true;
    const size_t next = step(text, at);
    if (next == at + 1) {
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0 && function) return next;
      if (c == ';' && depth == 0) return next;
    }
    at = next;
  }
  return text.size();
}

size_t function_at(std::string_view statement) {
  return std::min(statement.find(".func"), statement.find(".entry"));
}

// Directives without a ';', as .file, stand in front of the statement they are read with.
size_t line_start(std::string_view statement, size_t at) {
  const size_t newline = statement.rfind('\n', at);
  return newline == statement.npos ? 0 : newline + 1;
}

// The name of the function whose definition this is; empty for anything else.
std::string defined_function(std::string_view statement) {
  if (!statement.ends_with('}')) return {};
  size_t at = function_at(statement);
  if (at == statement.npos) return {};
  at = statement.find_first_of(kSpace, at);
  const auto skip_space = [&] {
    at = std::min(statement.find_first_not_of(kSpace, at), statement.size());
  };
  skip_space();
  if (at < statement.size() && statement[at] == '(')
    at = statement.find(')', at) + 1;  // what it returns
  skip_space();
  size_t end = at;
  while (end < statement.size() && is_name(statement[end])) ++end;
  return std::string(statement.substr(at, end - at));
}

// The name that a statement gives at the module's level, and whether other units see it.
struct Symbol {
  std::string name;
  bool internal = false;
};
Symbol declared(std::string_view statement) {
  size_t at = statement.npos;
  for (std::string_view kind : {".func", ".entry", ".global", ".const", ".shared"})
    at = std::min(at, statement.find(kind));
  if (at == statement.npos) return {};
  Symbol symbol;
  const std::string_view before = statement.substr(line_start(statement, at));
  symbol.internal = !before.starts_with(".visible") && !before.starts_with(".extern") &&
                    !before.starts_with(".weak") && !before.starts_with(".common");
  // Behind directives, their numbers, and what stands in parentheses: .align 8, .attribute(…),
  // (.param …)
  while (at < statement.size()) {
    const char c = statement[at];
    if (c == '(') at = std::min(statement.find(')', at), statement.size() - 1);
    if (c != '.' && !is_name(c)) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    while (end < statement.size() && is_name(statement[end])) ++end;
    if (c != '.' && !std::isdigit(uint8_t(c))) {
      symbol.name = statement.substr(at, end - at);
      return symbol;
    }
    at = end;
  }
  return {};
}

template <class F>
void each_statement(std::string_view text, F f) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = statement_end(text, at);
    f(text.substr(at, end - at));
    at = end;
  }
}

// Every use of the names gets the suffix.
std::string renamed(std::string_view text, const std::set<std::string>& names,
                    const std::string& suffix) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (!is_name(text[at])) {
      const size_t next = step(text, at);
      result += text.substr(at, next - at);
      at = next;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string word(text.substr(at, end - at));
    result += word;
    if ((at == 0 || text[at - 1] != '.') && names.count(word)) result += suffix;
    at = end;
  }
  return result;
}

// A name that a unit keeps to itself may be another one's, too ($str): all but the first to have it
// get a name of their own.
std::vector<std::string> with_own_names(const std::vector<std::string>& units) {
  std::set<std::string> taken;  // by what all units see
  std::vector<std::vector<std::string>> internal(units.size());
  for (size_t u = 0; u < units.size(); ++u)
    each_statement(units[u], [&](std::string_view statement) {
      Symbol symbol = declared(statement);
      if (symbol.name.empty()) return;
      if (symbol.internal) internal[u].push_back(std::move(symbol.name));
      else taken.insert(std::move(symbol.name));
    });
  std::vector<std::string> result;
  for (size_t u = 0; u < units.size(); ++u) {
    std::set<std::string> clashes;
    const std::set<std::string> own(internal[u].begin(), internal[u].end());
    for (const std::string& name : own)
      if (!taken.insert(name).second) clashes.insert(name);
    result.push_back(clashes.empty() ? units[u]
                                     : renamed(units[u], clashes, "$unit" + std::to_string(u)));
  }
  return result;
}

bool is_header(std::string_view line) {
  return line.starts_with(".version") || line.starts_with(".target") ||
         line.starts_with(".address_size");
}

// Adds `offset` to the number that follows `key`.
void renumber(std::string& line, std::string_view key, size_t offset, size_t& highest) {
  const size_t at = line.find(key);
  if (at == line.npos) return;
  const size_t from = line.find_first_of("0123456789", at + key.size());
  if (from == line.npos) return;
  char* end = nullptr;
  const size_t number = std::strtoull(line.c_str() + from, &end, 10) + offset;
  highest = std::max(highest, number);
  line.replace(from, size_t(end - line.c_str()) - from, std::to_string(number));
}

// The unit with its file numbers moved up, and without its header when it is not the first.
std::string prepared(std::string_view text, bool first, size_t offset, size_t& highest) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line(text.substr(at, end - at));
    at = end + 1;
    const size_t start = std::min(line.find_first_not_of(kSpace), line.size());
    const std::string_view trimmed = std::string_view(line).substr(start);  // until line changes
    if (!first && is_header(trimmed)) {
      line.clear();
    } else if (trimmed.starts_with(".file")) {
      renumber(line, ".file", offset, highest);
    } else if (trimmed.starts_with(".loc ") || trimmed.starts_with(".loc\t")) {
      renumber(line, ".loc", offset, highest);
      renumber(line, "inlined_at", offset, highest);
    }
    result += line + "\n";
  }
  return result;
}

}  // namespace

std::string link_ptx(const std::vector<std::string>& units) {
  std::string linked;
  std::set<std::string> defined;
  size_t files = 0;
  for (const std::string& unit : with_own_names(units)) {
    size_t highest = files;
    const std::string text = prepared(unit, linked.empty(), files, highest);
    files = highest;
    each_statement(text, [&](std::string_view statement) {
      const std::string name = defined_function(statement);
      const bool keep = name.empty() || defined.insert(name).second;
      linked +=
          keep ? statement : statement.substr(0, line_start(statement, function_at(statement)));
    });
  }
  return linked;
}

}  // namespace ridge::vm::cudart
