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
    } else if (trimmed.starts_with(".loc")) {
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
  for (const std::string& unit : units) {
    size_t highest = files;
    const std::string text = prepared(unit, linked.empty(), files, highest);
    files = highest;
    for (size_t at = 0; at < text.size();) {
      const size_t end = statement_end(text, at);
      const std::string_view statement = std::string_view(text).substr(at, end - at);
      at = end;
      const std::string name = defined_function(statement);
      const bool keep = name.empty() || defined.insert(name).second;
      linked +=
          keep ? statement : statement.substr(0, line_start(statement, function_at(statement)));
    }
  }
  return linked;
}

}  // namespace ridge::vm::cudart
