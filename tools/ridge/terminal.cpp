#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace ridge::tools {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

bool color = understands_escapes(STDOUT_FILENO) && !is_set("NO_COLOR");

std::string paint(const char* code, std::string_view text) {
  return color ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

// The line without what would not fit on the screen.
std::string cut(const std::string& line, size_t limit) {
  if (text_width(line) <= limit) return line;
  std::string kept = line;
  while (!kept.empty() && text_width(kept) >= limit) {
    while ((kept.back() & 0xC0) == 0x80) kept.pop_back();
    kept.pop_back();
  }
  return kept + "…" + (color ? "\033[0m" : "");
}

}  // namespace

size_t text_width(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if ((text[i] & 0xC0) != 0x80) {
      ++count;
    }
  }
  return count;
}

size_t screen_width() {
  winsize size = {};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20;
  return known ? size.ws_col : size_t(-1);
}

bool understands_escapes(int file) {
  const char* terminal = std::getenv("TERM");
  return isatty(file) && terminal && *terminal && std::string_view(terminal) != "dumb";
}

void tell(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}
void complain(std::string_view text) { tell(fmt::format("ridge: {}\n", text)); }

int failed(const Status& status) {
  if (!status.message().empty()) complain(status.message());
  return status.code();
}

void set_color(bool on) { color = on; }
std::string bold(std::string_view text) { return paint("1", text); }
std::string dim(std::string_view text) { return paint("2", text); }
std::string green(std::string_view text) { return paint("32", text); }
std::string red(std::string_view text) { return paint("31", text); }
std::string on_color(int number, std::string_view text) {
  return paint(fmt::format("30;48;5;{}", number).c_str(), text);
}

void Progress::show(std::string_view text) {
  if (quiet_ || !understands_escapes(STDERR_FILENO)) return;
  tell(fmt::format("\r\033[K{}", text));
  shown_ = true;
}

void Progress::keep(std::string_view text) {
  clear();
  if (!quiet_) tell(fmt::format("{}\n", text));
}

void Progress::clear() {
  if (shown_) tell("\r\033[K");
  shown_ = false;
}

std::string bar(double share) {
  constexpr int kWidth = 16;
  const int done = int(std::clamp(share, 0.0, 1.0) * kWidth);
  std::string text;
  for (int i = 0; i < kWidth; ++i) text += i < done ? "━" : "─";
  return text;
}

std::string thousands(unsigned long long number) {
  std::string text = std::to_string(number);
  for (int i = int(text.size()) - 3; i > 0; i -= 3) text.insert(size_t(i), 1, ',');
  return text;
}

std::string bytes(long long count) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = double(count);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  return value == double(int64_t(value)) ? fmt::format("{:.0f} {}", value, kUnits[unit])
                                         : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string time_text(double us) {
  if (us < 10) return fmt::format("{:.2f} µs", us);
  if (us < 1000) return fmt::format("{:.1f} µs", us);
  return fmt::format("{:.2f} ms", us / 1e3);
}

namespace {

std::vector<size_t> widths_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], text_width(row[c]));
  }
  return widths;
}

}  // namespace

size_t table_width(const std::vector<std::vector<std::string>>& rows, std::string_view indent) {
  const std::vector<size_t> widths = widths_of(rows);
  size_t total = text_width(indent);
  for (size_t c = 0; c < widths.size(); ++c) total += widths[c] + (c ? 2 : 0);
  return total;
}

std::string table(const std::vector<std::vector<std::string>>& rows,
                  const std::vector<Align>& columns, std::string_view indent) {
  const std::vector<size_t> widths = widths_of(rows);
  const size_t limit = screen_width();
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent);
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - text_width(row[c]), ' ');
      line += columns[c] == Align::right ? padding + row[c] : row[c] + padding;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += cut(line, limit) + "\n";
  }
  return text;
}

}  // namespace ridge::tools
