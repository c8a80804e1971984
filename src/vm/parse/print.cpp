#include "vm/parse/print.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "vm/parse/printer.h"

namespace ridge::vm {
namespace parse {
namespace {

// As unescape() in module.cpp reads it.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      out += c;
      continue;
    }
    char octal[5];
    std::snprintf(octal, sizeof octal, "\\%03o", unsigned(uint8_t(c)));
    out += octal;
  }
  return out;
}

std::string parameters_of(const std::deque<Variable>& parameters) {
  std::string out;
  for (const Variable& v : parameters) out += (out.empty() ? "" : ", ") + declaration_of(v, v.name);
  return "(" + out + ")";
}

std::string dimensions(std::string_view directive, const uint32_t (&d)[3]) {
  if (d[0] == 0 && d[1] == 0 && d[2] == 0) return "";
  return "\n." + std::string(directive) + " " + std::to_string(d[0]) + ", " + std::to_string(d[1]) +
         ", " + std::to_string(d[2]);
}

std::string limit(std::string_view directive, uint32_t value) {
  return value ? "\n." + std::string(directive) + " " + std::to_string(value) : "";
}

std::string header_of(const Function& f) {
  std::string out(linkage_prefix(f.linkage));
  out += f.entry ? ".entry " : ".func ";
  if (!f.results.empty()) out += parameters_of(f.results) + " ";
  out += f.name + parameters_of(f.params);
  out += dimensions("maxntid", f.maxntid) + dimensions("reqntid", f.reqntid) +
         dimensions("reqnctapercluster", f.reqnctapercluster) +
         limit("minnctapersm", f.minnctapersm) + limit("maxnctapersm", f.maxnctapersm) +
         limit("maxnreg", f.maxnreg) + limit("maxclusterrank", f.maxclusterrank);
  if (f.explicitcluster) out += "\n.explicitcluster";
  if (f.blocksareclusters) out += "\n.blocksareclusters";
  if (f.noreturn) out += "\n.noreturn";
  return out;
}

std::string function_text(const Module& module, const Function& f) {
  if (!f.defined) return header_of(f) + ";\n";
  const std::string body = f.parsed ? "\n" + BodyPrinter(module, f).text()
                                    : module.text.substr(f.body_begin, f.body_end - f.body_begin);
  return header_of(f) + "\n{" + body + "}\n";
}

std::string address_of(const Relocation& r, const Renamed& renamed) {
  std::string name = r.function ? r.function->name : r.variable->name;
  if (const auto found = renamed.find(r.variable); found != renamed.end()) name = found->second;
  return (r.generic ? "generic(" + name + ")" : name) + offset_text(r.addend);
}

std::string element_text(const Variable& v, uint64_t offset) {
  uint64_t bits = 0;
  std::memcpy(&bits, v.init.data() + offset, size_t(std::min(size_of(v.type), 8)));
  char text[24];
  if (v.type == Type::f32) std::snprintf(text, sizeof text, "0f%08X", unsigned(bits));
  else if (v.type == Type::f64)
    std::snprintf(text, sizeof text, "0d%016llX", static_cast<unsigned long long>(bits));
  else std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(bits));
  return text;
}

// Whether an initialiser names something that is declared below it.
bool looks_ahead(const Module& module) {
  std::unordered_map<const Variable*, size_t> place;
  for (const Variable& v : module.variables) place.emplace(&v, place.size());
  for (const Variable& v : module.variables)
    for (const Relocation& r : v.relocations)
      if (r.variable && place.at(r.variable) > place.at(&v)) return true;
  return false;
}

}  // namespace

std::string_view linkage_prefix(Linkage linkage) {
  switch (linkage) {
    case Linkage::internal: return "";
    case Linkage::visible: return ".visible ";
    case Linkage::external: return ".extern ";
    case Linkage::weak: return ".weak ";
    case Linkage::common: return ".common ";
  }
  return "";
}

std::string offset_text(int64_t offset) {
  if (offset == 0) return "";
  return offset > 0 ? "+" + std::to_string(offset) : std::to_string(offset);
}

std::string declaration_of(const Variable& v, const std::string& name) {
  const auto element = uint64_t(size_of(v.type));
  std::string out = "." + std::string(name_of(v.space));
  if (v.align != std::max<uint64_t>(1, element)) out += " .align " + std::to_string(v.align);
  if (v.managed) out += " .attribute(.managed)";
  out += " ." + std::string(name_of(v.type)) + " " + name;
  if (v.unsized) return out + "[]";
  return v.size == element ? out : out + "[" + std::to_string(v.size / element) + "]";
}

std::string initializer_of(const Variable& v, const Renamed& renamed) {
  if (v.init.empty()) return "";
  const auto element = uint64_t(size_of(v.type));
  const auto last = std::find_if(v.init.rbegin(), v.init.rend(), [](uint8_t byte) { return byte; });
  auto used = uint64_t(v.init.rend() - last);  // bytes up to the last that is not zero
  std::unordered_map<uint64_t, const Relocation*> addresses;
  for (const Relocation& r : v.relocations) {
    addresses.emplace(r.offset, &r);
    used = std::max(used, r.offset + 1);
  }
  std::string list;
  for (uint64_t at = 0; at < std::max<uint64_t>(used, 1); at += element) {
    if (at > 0) list += ", ";
    const auto found = addresses.find(at);
    if (found == addresses.end()) {
      list += element_text(v, at);
    } else if (const Relocation& r = *found->second; r.size == 1) {
      list += std::to_string(uint64_t(0xFF) << (8 * r.byte)) + "(" + address_of(r, renamed) + ")";
    } else {
      list += address_of(r, renamed);
    }
  }
  return " = " + (v.size == element ? list : "{" + list + "}");
}

}  // namespace parse

std::string print(const Module& module) {
  using namespace parse;
  std::string out = ".version " + std::to_string(module.version_major) + "." +
                    std::to_string(module.version_minor) + "\n";
  if (!module.target.empty())
    out += ".target " + module.target + (module.optimised ? "" : ", debug") + "\n";
  out += ".address_size " + std::to_string(module.address_size) + "\n";
  for (size_t i = 0; i < module.files.size(); ++i)
    if (!module.files[i].empty() || i + 1 == module.files.size())
      out += ".file " + std::to_string(i) + " \"" + escaped(module.files[i]) + "\"\n";
  // Initialisers may name functions, and bodies are read last.
  for (const Function& f : module.functions) out += function_text(module, f);
  if (looks_ahead(module))
    for (const Variable& v : module.variables)
      out += ".extern " + declaration_of(v, v.name) + ";\n";
  for (const Variable& v : module.variables) {
    out += linkage_prefix(v.linkage);
    out += declaration_of(v, v.name) + initializer_of(v, {}) + ";\n";
  }
  return out;
}

}  // namespace ridge::vm
