#include "vm/report/text.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "core/text.h"

namespace ridge::vm::report {
namespace {

constexpr size_t kLongName = 60;

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string bold(std::string_view text) const { return in("\033[1m", text); }
  std::string red(std::string_view text) const { return in("\033[1;31m", text); }
  std::string yellow(std::string_view text) const { return in("\033[1;33m", text); }
  std::string green(std::string_view text) const { return in("\033[32m", text); }
  std::string dim(std::string_view text) const { return in("\033[2m", text); }

 private:
  std::string in(const char* code, std::string_view text) const {
    return on_ ? code + std::string(text) + "\033[0m" : std::string(text);
  }
  bool on_;
};

// Templates name themselves at length.
std::string short_name(const std::string& kernel) {
  if (kernel.size() < kLongName) return kernel;
  const std::string name = kernel.substr(0, kernel.find('<'));
  return name.substr(name.rfind(' ') + 1) + "<…>";
}

std::string place_name(const Place& p) {
  if (!p.file.empty()) {
    std::string text = shown_path(p.file) + ":" + std::to_string(p.line);
    if (p.column) text += ":" + std::to_string(p.column);
    return text;
  }
  if (!p.function.empty()) return p.function;
  if (p.ptx_line) return "PTX line " + std::to_string(p.ptx_line) + ": " + p.instruction;
  return p.instruction;
}

std::string first_line(const Finding& f, const Paint& paint) {
  const Place& place = f.place();
  std::string text = paint.bold(place.known() ? place_name(place) : "ridge") + ": ";
  text += f.severity == Severity::error ? paint.red("error: ") : paint.yellow("warning: ");
  const std::string name = title(f);
  text += paint.bold(name.empty() ? f.message : name);
  if (!f.kernel.empty() && !name.empty()) text += " in kernel " + short_name(f.kernel);
  return text + paint.dim(" [" + f.kind + "]");
}

// "    12 |   out[i] = in[i + 1];" and a caret below the column, where it is known.
std::string excerpt(const Place& p, const Paint& paint) {
  if (p.file.empty() || !p.line) return {};
  std::ifstream in(p.file);
  std::string text;
  for (uint32_t k = 0; k < p.line && std::getline(in, text); ++k) {
  }
  const size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t\r");
  if (!in || from == text.npos) return {};
  char number[32];
  std::snprintf(number, sizeof number, "%6u | ", p.line);
  const std::string line = paint.dim(number) + text.substr(0, to + 1) + "\n";
  // A column behind the text is of another version of the file.
  if (p.column <= from || p.column - 1 > to) return line;
  std::string before;  // keeps tabs, so that the caret stands where the text does
  for (size_t k = 0; k + 1 < p.column; ++k) before += text[k] == '\t' ? '\t' : ' ';
  return line + paint.dim("       | ") + before + paint.green("^") + "\n";
}

void add_party(std::string& out, const Finding& f, const Party& p, const TextStyle& style) {
  if (!p.there()) return;
  const Paint paint(style.colour);
  const bool in_first_line = &p.place == &f.place();
  std::string line = "  " + (p.act.empty() ? std::string("at") : p.act);
  if (!in_first_line && p.place.known())
    line += (f.second.there() ? " at " : " ") + paint.bold(place_name(p.place));
  if (!p.who.empty()) line += " by " + p.who;
  if (line != "  at") out += line + "\n";
  if (!p.place.inside.empty())
    out += "    in " + shown_path(p.place.inside.substr(0, p.place.inside.find(" < "))) + "\n";
  const bool shown =
      &p == &f.second && p.place.file == f.first.place.file && p.place.line == f.first.place.line;
  if (style.excerpt && !shown) out += excerpt(p.place, paint);
}

}  // namespace

std::string to_line(const Finding& f) { return first_line(f, Paint(false)); }

std::string to_text(const Finding& f, const TextStyle& style) {
  const Paint paint(style.colour);
  std::string out = first_line(f, paint) + "\n";
  const bool told = title(f).empty();
  if (!told && !f.message.empty()) out += "  " + f.message + "\n";
  add_party(out, f, f.first, style);
  add_party(out, f, f.second, style);
  if (!f.memory.empty()) {
    const bool is_placed = f.address || f.space == "shared";
    out += "  memory: " + f.memory + (is_placed ? " (" + hex_text(f.address) + ")" : "") + "\n";
  }
  for (const std::string& note : f.notes) out += "  " + note + "\n";
  if (!f.fix.empty()) out += "  " + paint.green("fix: ") + f.fix + "\n";
  if (f.count > 1) out += "  seen " + std::to_string(f.count) + " times\n";
  if (f.seed) out += "  seen under --seed " + std::to_string(f.seed) + "\n";
  return out;
}

bool wants_colour(int file_descriptor) {
  const char* term = std::getenv("TERM");
  const char* plain = std::getenv("NO_COLOR");
  return isatty(file_descriptor) && term && std::string_view(term) != "dumb" && !(plain && *plain);
}

}  // namespace ridge::vm::report
