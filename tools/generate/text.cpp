#include "text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ridge::generate {
namespace {

constexpr size_t kColumns = 100;

// Columns of a text: bytes that do not continue a character of UTF-8.
size_t width(const std::string& text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string layout_of(const TensorDef& t) {
  switch (t.layout) {
    case Layout::any: return "";
    case Layout::contiguous: return ", contiguous";
    case Layout::dense: return ", without gaps";
    case Layout::rows: return ", in rows with one stride";
    case Layout::unit_last: return ", the last dimension contiguous";
    case Layout::matrix: return ", one dimension contiguous";
  }
  return "";
}

}  // namespace

std::string wrapped(const std::string& first, const std::string& further, const std::string& text) {
  std::string out, line = first;
  bool is_empty = true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!is_empty && width(line) + 1 + width(word) > kColumns) {
      out += line + "\n";
      line = further;
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + word;
    is_empty = false;
    at = end + 1;
  }
  return out + line + "\n";
}

std::string about(const TensorDef& t) {
  constexpr const char* kRoles[] = {"input", "output", "input and output"};
  std::string text = std::string(t.optional ? "optional " : "") + kRoles[size_t(t.role)];
  text += t.shape == "1" ? ", one element" : ", (" + t.shape + ")";
  if (!t.formats.empty()) text += ", " + names_of(t.formats);
  if (!t.like.empty())
    text += t.derived ? ", in the format of " + t.derived_name + " of " + t.like
                      : ", in the format of " + t.like;
  text += layout_of(t);
  if (t.scaled) text += ", also with scales";
  if (t.on_host) text += ", in host memory";
  for (size_t i = 0; i < t.may_be.size(); ++i)
    text += (i ? " or " : ", may be ") + t.may_be[i] + (i + 1 == t.may_be.size() ? " itself" : "");
  return t.meaning.empty() ? text : text + ": " + t.meaning;
}

std::string about(const ParameterDef& p) {
  std::string text;
  switch (p.type) {
    case ParameterType::number: text = "number"; break;
    case ParameterType::integer: text = "whole number"; break;
    case ParameterType::flag: text = "0 or 1"; break;
    case ParameterType::choice:
      for (size_t i = 0; i < p.choices.size(); ++i)
        text += (i ? ", " : "") + std::to_string(i) + " (" + p.choices[i] + ")";
      break;
  }
  if (std::isfinite(p.least)) text += (p.above_least ? " above " : " from ") + literal(p.least);
  if (std::isfinite(p.most)) text += (p.under_most ? " to under " : " to ") + literal(p.most);
  if (!p.required) text += ", default " + literal(p.otherwise);
  return p.meaning.empty() ? text : text + ": " + p.meaning;
}

std::string literal(double x) {
  if (std::isinf(x)) return x < 0 ? "-INFINITY" : "INFINITY";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

std::string comment_of(const OperatorDef& op) {
  size_t widest = 0;
  for (const TensorDef& t : op.tensors) widest = std::max(widest, t.name.size());
  for (const ParameterDef& p : op.parameters) widest = std::max(widest, p.name.size());
  std::string text = wrapped("// ", "// ", op.formula);
  const auto add = [&](const std::string& name, const std::string& what) {
    text += wrapped("//   " + name + std::string(widest + 2 - name.size(), ' '),
                    "//   " + std::string(widest + 2, ' '), what);
  };
  for (const TensorDef& t : op.tensors) add(t.name, about(t));
  for (const ParameterDef& p : op.parameters) add(p.name, about(p));
  if (!op.notes.empty()) text += wrapped("// ", "// ", op.notes);
  return text;
}

std::string signature(const std::string& head, const std::vector<std::string>& arguments,
                      const std::string& tail) {
  std::string out, line = head;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string word = arguments[i] + (i + 1 < arguments.size() ? "," : tail);
    if (i > 0 && line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line = std::string(head.size(), ' ');
    } else if (i > 0) {
      line += " ";
    }
    line += word;
  }
  return out + line + "\n";
}

}  // namespace ridge::generate
