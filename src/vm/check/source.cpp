#include "vm/check/source.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <string_view>

namespace ridge::vm::check {
namespace {

std::string trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t\r"), to = text.find_last_not_of(" \t\r");
  return from == text.npos ? std::string() : std::string(text.substr(from, to - from + 1));
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_one_of(char c, std::string_view all) { return all.find(c) != all.npos; }

// Comments become nothing, and text in quotes becomes blanks of the same length.
std::string without_comments(const std::string& line, bool& in_comment) {
  std::string out;
  char quote = 0;
  for (size_t k = 0; k < line.size(); ++k) {
    const std::string_view two = std::string_view(line).substr(k, 2);
    if (in_comment) {
      if (two == "*/") in_comment = false, ++k;
    } else if (quote) {
      if (line[k] == '\\') ++k, out += "  ";
      else out += line[k] == quote ? line[k] : ' ';
      if (k < line.size() && line[k] == quote) quote = 0;
    } else if (two == "//") {
      break;
    } else if (two == "/*") {
      in_comment = true, ++k;
    } else {
      if (line[k] == '"' || (line[k] == '\'' && !(k && is_word(line[k - 1])))) quote = line[k];
      out += line[k];
    }
  }
  return out;
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool before = at == 0 || !is_word(text[at - 1]);
    const bool behind = at + word.size() >= text.size() || !is_word(text[at + word.size()]);
    if (before && behind) return true;
  }
  return false;
}

// Where the expression that ends before `end` begins: names, members, and what stands in brackets.
size_t begin_of_place(std::string_view text, size_t end) {
  size_t at = end;
  while (at > 0) {
    const char c = text[at - 1];
    if (is_word(c) || c == '.' || c == ':') {
      --at;
    } else if (c == '>' && at > 1 && text[at - 2] == '-') {
      at -= 2;
    } else if (c == ']' ||
               (c == ')' && (at == end || text[at] == '[' || text[at] == '.' || text[at] == '-'))) {
      const char open = c == ']' ? '[' : '(';
      int depth = 0;
      do {
        --at;
        depth += text[at] == c;
        depth -= text[at] == open;
      } while (at > 0 && depth > 0);
      if (depth) return end;
    } else {
      break;
    }
  }
  while (at > 0 && at < end && text[at - 1] == '*') --at;
  return at;
}

std::string address_of(const std::string& place) {
  return place.starts_with("*") ? trimmed(place.substr(1)) : "&" + place;
}

// Up to the end of the statement, or of the bracket it stands in.
size_t end_of_value(std::string_view text, size_t from) {
  int depth = 0;
  for (size_t k = from; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth-- == 0) return k;
    if ((c == ';' || c == ',') && depth == 0) return k;
  }
  return text.npos;
}

// The `=` of an assignment that is nothing else.
size_t find_assignment(std::string_view text) {
  for (size_t k = 1; k + 1 < text.size(); ++k)
    if (text[k] == '=' && text[k + 1] != '=' && !is_one_of(text[k - 1], "=!<>+-*/%&|^")) return k;
  return text.npos;
}

}  // namespace

std::shared_ptr<const Source> Source::read(const std::string& path) {
  static std::mutex mutex;
  static auto* known = new std::map<std::string, std::shared_ptr<const Source>>;
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = known->try_emplace(path);
  if (!fresh || path.empty()) return at->second;
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  if (!lines.empty()) at->second = std::make_shared<const Source>(std::move(lines));
  return at->second;
}

Source::Source(std::vector<std::string> text) {
  struct Open {
    uint32_t line;  // where its header begins
    bool loop;
  };
  std::vector<Open> open;
  std::string header;  // since the last statement
  uint32_t depth = 0, brackets = 0, header_line = 1;
  bool in_comment = false, continued = false;
  for (uint32_t number = 1; number <= text.size(); ++number) {
    Line line;
    line.code = without_comments(text[number - 1], in_comment);
    line.depth = depth, line.brackets = brackets;
    line.directive = continued || trimmed(line.code).starts_with("#");
    continued = line.directive && line.code.ends_with("\\");
    if (!line.directive)
      for (const char c : line.code) {
        if (c == '(') ++brackets;
        if (c == ')' && brackets) --brackets;
        if (c == '{') {
          const bool loop =
              has_word(header, "for") || has_word(header, "while") || has_word(header, "do");
          open.push_back({header_line, loop});
          ++depth;
        }
        if (c == '}' && depth) {
          --depth;
          if (open.back().loop) loops_.push_back({open.back().line, number});
          open.pop_back();
        }
        if (c == '{' || c == '}' || (c == ';' && !brackets)) {
          header.clear();
        } else {
          if (header.empty() && c != ' ' && c != '\t') header_line = number;
          if (!header.empty() || (c != ' ' && c != '\t')) header += c;
        }
      }
    if (!header.empty()) header += ' ';
    lines_.push_back(std::move(line));
  }
}

std::vector<uint32_t> Source::places_between(uint32_t from, uint32_t to) const {
  std::vector<uint32_t> places;
  if (!from || from >= to || to > lines_.size()) return places;
  uint32_t shallowest = ~0u;
  for (uint32_t k = from + 1; k <= to; ++k) {
    const Line& line = lines_[k - 1];
    if (line.brackets || line.directive) continue;
    uint32_t before = k - 1;  // the last line that says something
    while (before > from &&
           (trimmed(lines_[before - 1].code).empty() || lines_[before - 1].directive))
      --before;
    const std::string code = trimmed(lines_[before - 1].code);
    if (code.empty() || !is_one_of(code.back(), ";{}")) continue;
    if (trimmed(line.code).starts_with("else")) continue;
    if (line.depth < shallowest) places.clear(), shallowest = line.depth;
    if (line.depth == shallowest) places.push_back(k);
  }
  return places;
}

uint32_t Source::end_of_loop(uint32_t a, uint32_t b) const {
  const Loop* best = nullptr;
  for (const Loop& loop : loops_)
    if (loop.header <= std::min(a, b) && std::max(a, b) <= loop.end &&
        (!best || loop.header > best->header))
      best = &loop;
  return best ? best->end : 0;
}

std::optional<Source::Rewrite> Source::as_atomic(uint32_t number, const std::string& atomic) const {
  if (!number || number > lines_.size() || atomic.empty()) return std::nullopt;
  const std::string& code = lines_[number - 1].code;
  const auto make = [&](size_t begin, size_t end, const std::string& place,
                        const std::string& value) {
    return Rewrite{code.substr(begin, end - begin),
                   atomic + "(" + address_of(place) + ", " + value + ")"};
  };
  if (atomic == "atomicAdd" || atomic == "atomicSub") {
    int depth = 0;  // what stands in parentheses is a loop's own
    for (size_t at = 0; at + 1 < code.size(); ++at) {
      depth += (code[at] == '(') - (code[at] == ')');
      const bool up = code.compare(at, 2, "++") == 0, down = code.compare(at, 2, "--") == 0;
      if (depth || (!up && !down)) continue;
      const std::string value = down && atomic == "atomicAdd" ? "-1" : "1";
      const size_t begin = begin_of_place(code, at);
      if (begin < at) return make(begin, at + 2, code.substr(begin, at - begin), value);  // h[i]++
      size_t stop = at + 2;                                                               // ++h[i]
      while (stop < code.size() && (is_word(code[stop]) || code[stop] == '*')) ++stop;
      while (stop < code.size() && code[stop] == '[') {
        const size_t close = end_of_value(code, stop + 1);
        if (close == code.npos) return std::nullopt;
        stop = close + 1;
      }
      if (stop > at + 2) return make(at, stop, code.substr(at + 2, stop - at - 2), value);
    }
  }
  // `*p -= v` may have become the addition of a negative number.
  constexpr std::pair<const char*, const char*> compound[] = {
      {"atomicAdd", "+="}, {"atomicAdd", "-="}, {"atomicSub", "-="},
      {"atomicAnd", "&="}, {"atomicOr", "|="},  {"atomicXor", "^="}};
  for (const auto& [function, op] : compound) {
    const size_t at = atomic == function ? code.find(op) : code.npos;
    if (at == code.npos) continue;
    size_t end = at;
    while (end > 0 && code[end - 1] == ' ') --end;
    const size_t begin = begin_of_place(code, end), stop = end_of_value(code, at + 2);
    if (begin == end || stop == code.npos) continue;
    std::string value = trimmed(code.substr(at + 2, stop - at - 2));
    if (op[0] == '-' && atomic == "atomicAdd") value = "-(" + value + ")";
    return make(begin, stop, code.substr(begin, end - begin), value);
  }
  const size_t at = find_assignment(code);
  if (at == code.npos) return std::nullopt;
  size_t end = at;
  while (end > 0 && code[end - 1] == ' ') --end;
  size_t begin = begin_of_place(code, end);
  const size_t stop = end_of_value(code, at + 1);
  if (begin == end || stop == code.npos) return std::nullopt;
  const std::string place = code.substr(begin, end - begin);
  std::string value = trimmed(code.substr(at + 1, stop - at - 1));
  if (atomic == "atomicMin" || atomic == "atomicMax") {
    // if (*p < v) *p = v;   *p = max(*p, v);
    const size_t call = value.find(atomic == "atomicMin" ? "min(" : "max(");
    if (call != value.npos) {
      const size_t open = value.find('(', call), comma = end_of_value(value, open + 1);
      if (comma == value.npos || value[comma] != ',') return std::nullopt;
      const size_t close = end_of_value(value, comma + 1);
      const std::string one = trimmed(value.substr(open + 1, comma - open - 1)),
                        two = trimmed(value.substr(comma + 1, close - comma - 1));
      if (one != place && two != place) return std::nullopt;
      return make(begin, stop, place, one == place ? two : one);
    }
    const size_t condition = code.find("if (");
    if (condition == code.npos || condition > begin || code.find(place, condition) >= begin)
      return std::nullopt;
    begin = condition;
    return make(begin, stop, place, value);
  }
  // *p = *p + v;   *p = v + *p;
  const char sign = atomic == "atomicAdd"   ? '+'
                    : atomic == "atomicSub" ? '-'
                    : atomic == "atomicAnd" ? '&'
                    : atomic == "atomicOr"  ? '|'
                                            : '^';
  if (value.starts_with(place)) {
    const std::string rest = trimmed(value.substr(place.size()));
    if (rest.empty() || rest[0] != sign) return std::nullopt;
    return make(begin, stop, place, trimmed(rest.substr(1)));
  }
  if (sign != '-' && value.ends_with(place)) {
    const std::string rest = trimmed(value.substr(0, value.size() - place.size()));
    if (rest.empty() || rest.back() != sign) return std::nullopt;
    return make(begin, stop, place, trimmed(rest.substr(0, rest.size() - 1)));
  }
  return std::nullopt;
}

std::optional<Source::Rewrite> Source::read_then_write(uint32_t number,
                                                       const std::string& barrier) const {
  if (!number || number > lines_.size()) return std::nullopt;
  const std::string& code = lines_[number - 1].code;
  const std::string statement = trimmed(code);
  if (!statement.ends_with(";") || has_word(statement, "if") || has_word(statement, "for"))
    return std::nullopt;  // in a branch, a barrier would not be reached by all
  size_t at = statement.find("+=");
  const bool adds = at != statement.npos;
  if (!adds) at = find_assignment(statement);
  if (at == statement.npos) return std::nullopt;
  const std::string place = trimmed(statement.substr(0, at));
  const size_t from = at + (adds ? 2 : 1);
  std::string value = trimmed(statement.substr(from, statement.size() - 1 - from));
  if (adds) value = place + " + " + value;
  return Rewrite{statement,
                 "const auto value = " + value + "; " + barrier + "; " + place + " = value;"};
}

}  // namespace ridge::vm::check
