// Output for the user: complaints, colours, a progress line, aligned tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace ridge::tools {

// Prints to stderr. If that fails, the text is lost: there is nowhere to report it.
void complain(std::string_view text);  // "ridge: text", and the end of the line
void tell(std::string_view text);      // as it is
// Complains what went wrong, unless the message is empty: then somebody has said it all. Returns
// the exit code.
int failed(const Status& status);

// Whether it is a terminal that more than plain text can be sent to: TERM is not "dumb".
bool understands_escapes(int file);

// Colour is off when --no-color is given, NO_COLOR is set, or stdout does not understand it.
void set_color(bool on);
std::string bold(std::string_view text);
std::string dim(std::string_view text);
std::string green(std::string_view text);
std::string red(std::string_view text);
// Black on one of the 256 colours that terminals number.
std::string on_color(int number, std::string_view text);

// One line on stderr that replaces itself on a terminal. Elsewhere only lasting lines are printed.
class Progress {
 public:
  explicit Progress(bool quiet) : quiet_(quiet) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view text);  // for now
  void keep(std::string_view text);  // for good
  void clear();

 private:
  bool quiet_;
  bool shown_ = false;
};

std::string bar(double share);  // ━━━━━━──────, of a fixed width

std::string thousands(unsigned long long number);  // 1,234,567
std::string bytes(long long count);                // 228 KiB
std::string time_text(double us);                  // 3.14 µs, 31.4 µs, 3.14 ms

// Characters on the screen: neither escape sequences nor the later bytes of a UTF-8 character.
size_t text_width(std::string_view text);
size_t screen_width();  // of the terminal; into a pipe, more than any line has

// Lines are cut where the terminal ends. Into a pipe they go whole.
// Columns padded to their widest cell and set two spaces apart. Colour codes take no width.
enum class Align { left, right };
std::string table(const std::vector<std::vector<std::string>>& rows,
                  const std::vector<Align>& columns, std::string_view indent = "");
size_t table_width(const std::vector<std::vector<std::string>>& rows, std::string_view indent = "");

}  // namespace ridge::tools
