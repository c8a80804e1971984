#include "vm/isa/operands.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace ridge::vm {
namespace {

OperandSpec parse_spec(std::string_view text) {
  OperandSpec spec;
  const size_t colon = text.find(':');
  std::string_view role = text.substr(0, colon);
  std::string_view type = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (const size_t bar = role.find('|'); bar != std::string_view::npos) {
    spec.second = true;
    role = role.substr(0, bar);
  } else if (const size_t late = type.find('|'); late != std::string_view::npos) {  // "d:b32|p"
    spec.second = true;
    type = type.substr(0, late);
  }
  spec.address = role.front() == '[';
  spec.vector = role.size() > 1 && role.back() == '4';
  spec.fragment = role.size() > 1 && role.back() == '*';
  spec.fragment_or_descriptor = role.size() > 1 && role.back() == '@';
  spec.literal = role.size() > 1 && role.back() == '#';
  spec.flag = role.size() > 1 && role.back() == '?';
  spec.sign = role.size() > 1 && role.back() == '~';
  spec.updated = role.front() == 'x';
  spec.dest = role.front() == 'd' || role.front() == 'p' || spec.updated;
  if (role.front() == 'p') {
    spec.type_index = -1;
    spec.type = Type::pred;
  }
  if (spec.address && !type.empty()) {
    spec.tensor = type == "tensor";
    spec.space = type == "shared"   ? Space::shared
                 : type == "global" ? Space::global
                                    : Space::generic;
  } else if (type == "w") {
    spec.type_index = -2;
  } else if (type.size() == 1 && type[0] >= '0' && type[0] <= '9') {
    spec.type_index = type[0] - '0';
  } else if (!type.empty()) {
    spec.type_index = -1;
    spec.type = type_from_name(type).value_or(Type::none);
  }
  return spec;
}

}  // namespace

const std::vector<OperandSpec>& operand_specs(const InstrDef& row) {
  static std::mutex mutex;
  static auto* cache = new std::map<const InstrDef*, std::vector<OperandSpec>>;
  const std::lock_guard lock(mutex);
  if (const auto hit = cache->find(&row); hit != cache->end()) return hit->second;
  std::vector<OperandSpec> specs;
  for (std::string_view rest = row.operands; !rest.empty();) {
    const size_t comma = rest.find(',');
    specs.push_back(parse_spec(rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return (*cache)[&row] = std::move(specs);
}

Type operand_type(const OperandSpec& spec, const Form& form) {
  if (spec.type_index == -1) return spec.type;
  if (spec.type_index >= 0) return form.types[size_t(spec.type_index)];
  switch (form.type()) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    case Type::b16: return Type::b32;
    default: return Type::b64;
  }
}

int operand_count(const InstrDef& row) {
  return row.operands.empty() ? 0
                              : int(std::count(row.operands.begin(), row.operands.end(), ',')) + 1;
}

}  // namespace ridge::vm
