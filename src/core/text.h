// Values as text, in the one way that all of Ridge writes them.
#pragma once

#include <cxxabi.h>

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace ridge {

// As JSON has a string, with its quotes.
inline std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    char code[8] = {c, 0};
    if (c == '"' || c == '\\') std::snprintf(code, sizeof code, "\\%c", c);
    else if (c == '\n') std::snprintf(code, sizeof code, "\\n");
    else if (static_cast<unsigned char>(c) < ' ') std::snprintf(code, sizeof code, "\\u%04x", c);
    out += code;
  }
  return out + "\"";
}

// "0.5", "1e+06": for people.
inline std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

// "0x7f00"; with at least so many digits.
inline std::string hex_text(uint64_t value, int digits = 1) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

// The names that a symbol of C++ begins with: "_ZN7cutlass13device_kernelIN…" is
// "cutlass::device_kernel<…>".
inline std::string leading_names(const std::string& symbol) {
  std::string names;
  size_t at = symbol.starts_with("_ZN") ? 3 : 2;
  while (at < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[at]))) {
    size_t length = 0;
    for (; at < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[at])); ++at)
      length = length * 10 + size_t(symbol[at] - '0');
    if (length > symbol.size() - at) return symbol;
    names += (names.empty() ? "" : "::") + symbol.substr(at, length);
    at += length;
  }
  if (names.empty()) return symbol;
  return at < symbol.size() && symbol[at] == 'I' ? names + "<…>" : names;
}

// The C++ name behind a symbol. Only symbols of C++ begin with _Z; anything else would be taken for
// the name of a type: "b" for bool.
inline std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  // The library gives up on symbols of more than 1024 characters, which CUTLASS has.
  return status == 0 && name ? name.get() : leading_names(symbol);
}

// What a variable is called by itself: "_ZZ4turnPfE4tile", a variable of a function, is "tile".
inline std::string own_name(const std::string& symbol) {
  std::string name = demangled(symbol);
  if (const size_t at = name.rfind("::"); at != std::string::npos) name.erase(0, at + 2);
  return name;
}

}  // namespace ridge
