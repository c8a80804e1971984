#include "vm/isa/form.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "vm/isa/reserved.h"

namespace ridge::vm {
namespace {

struct NamedSet {
  std::string_view name;
  std::string_view members;
};
constexpr NamedSet kTypeSets[] = {
    {"int", "u16|s16|u32|s32|u64|s64"},
    {"integer", "u8|u16|u32|u64|s8|s16|s32|s64"},
    {"int32", "u32|s32"},
    {"int32_64", "u32|s32|u64|s64"},
    {"int16_32", "u16|s16|u32|s32"},
    {"signed", "s16|s32|s64"},
    {"bits", "b16|b32|b64"},
    {"bits32_64", "b32|b64"},
    {"float", "f32|f64"},
    {"round", "rn|rz|rm|rp"},
    {"iround", "rni|rzi|rmi|rpi"},
    {"icmp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"},
    {"fcmp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"bool", "and|or|xor"},
    {"any", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64|f16|bf16|f16x2|bf16x2"},
    {"move", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"},
    {"space",
     "global|shared|shared::cta|shared::cluster|local|const|param|param::entry|param::func"},
    {"scope", "cta|cluster|gpu|sys"},
    {"cache", "ca|cg|cs|lu|cv|wb|wt"},
    {"evict",
     "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"l2evict", "L2::evict_first|L2::evict_last|L2::evict_normal"},
    {"prefetch", "L2::64B|L2::128B|L2::256B"},
    {"hint", "L2::cache_hint"},
};

struct ModifierGroup {
  bool required = false;
  std::vector<std::string_view> names;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// "add{rn|rz}[%float]" -> root "add" and its groups.
struct Pattern {
  std::string_view root;
  std::vector<ModifierGroup> modifiers;
};
Pattern parse_pattern(std::string_view spelling) {
  Pattern p;
  p.root = spelling.substr(0, spelling.find_first_of("[{"));
  std::string_view rest = spelling.substr(p.root.size());
  while (!rest.empty()) {
    const bool required = rest.front() == '[';
    const size_t close = rest.find(required ? ']' : '}');
    ModifierGroup group{required, {}};
    for (std::string_view name : split(rest.substr(1, close - 1), '|')) {
      if (name.front() != '%') {
        group.names.push_back(name);
        continue;
      }
      for (const NamedSet& set : kTypeSets)
        if (set.name == name.substr(1))
          for (std::string_view member : split(set.members, '|')) group.names.push_back(member);
    }
    p.modifiers.push_back(std::move(group));
    rest.remove_prefix(close + 1);
  }
  return p;
}

struct IndexedRow {
  const InstrDef* row;
  Pattern pattern;
};
// Rows by root, patterns read once.
const std::unordered_map<std::string_view, std::vector<IndexedRow>>& index() {
  static const auto* built = [] {
    auto* map = new std::unordered_map<std::string_view, std::vector<IndexedRow>>;
    for (const Group& group : groups())
      for (const InstrDef& row : group.rows) {
        Pattern p = parse_pattern(row.spelling);
        (*map)[p.root].push_back({&row, std::move(p)});
      }
    return map;
  }();
  return *built;
}

bool match(const Pattern& pattern, const std::vector<std::string_view>& modifiers) {
  std::vector<bool> used(pattern.modifiers.size(), false);
  for (std::string_view modifier : modifiers) {
    bool found = false;
    for (size_t g = 0; g < used.size() && !found; ++g) {
      const auto& names = pattern.modifiers[g].names;
      if (used[g] || std::find(names.begin(), names.end(), modifier) == names.end()) continue;
      used[g] = found = true;
    }
    if (!found) return false;
  }
  for (size_t g = 0; g < used.size(); ++g)
    if (pattern.modifiers[g].required && !used[g]) return false;
  return true;
}

}  // namespace

bool Form::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

int Form::index_of(std::initializer_list<std::string_view> names, int otherwise) const {
  int i = 0;
  for (std::string_view name : names) {
    if (has(name)) return i;
    ++i;
  }
  return otherwise;
}

Space Form::space() const {
  for (std::string_view m : modifiers) {
    if (m == "global") return Space::global;
    // Without cluster launches every block is a cluster of one.
    if (m == "shared" || m == "shared::cta" || m == "shared::cluster") return Space::shared;
    if (m == "local") return Space::local;
    if (m == "const") return Space::constant;
    if (m == "param" || m == "param::entry" || m == "param::func") return Space::param;
  }
  return Space::generic;
}

int operand_count(const InstrDef& row) {
  return row.operands.empty() ? 0
                              : int(std::count(row.operands.begin(), row.operands.end(), ',')) + 1;
}

const Match* find_instruction(std::string_view mnemonic, std::string* error, int operands) {
  struct Entry {
    std::string spelling;  // what the match's Form points into
    Match match;
  };
  static std::mutex mutex;
  static auto* cache = new std::unordered_map<std::string, std::unique_ptr<Entry>>;
  const std::string cache_key = std::string(mnemonic) + ' ' + std::to_string(operands);
  const std::lock_guard lock(mutex);
  if (const auto hit = cache->find(cache_key); hit != cache->end()) return &hit->second->match;

  auto entry = std::make_unique<Entry>();
  entry->spelling = mnemonic;
  std::vector<std::string_view> parts = split(entry->spelling, '.');
  const std::string_view root = parts.front();
  parts.erase(parts.begin());
  const auto rows = index().find(root);
  std::string later;
  for (const Reserved& reserved : kReserved)
    if ((entry->spelling + '.').starts_with(std::string(reserved.prefix) + '.'))
      later = " yet (" + std::string(reserved.what) + ")";
  if (rows == index().end()) {
    *error =
        "the instruction '" + std::string(root) + "' is not supported by the software GPU" + later;
    return nullptr;
  }
  Form form;
  for (std::string_view part : parts)
    if (const auto type = type_from_name(part); type && form.type_count < int(form.types.size()))
      form.types[form.type_count++] = *type;
  form.modifiers = parts;
  bool wrong_count = false;
  for (const IndexedRow& candidate : rows->second) {
    if (!match(candidate.pattern, form.modifiers)) continue;
    const Handlers handlers = candidate.row->select(form);
    if (!handlers.masked) continue;
    if (operands >= 0 && operand_count(*candidate.row) != operands) {
      wrong_count = true;
      continue;
    }
    entry->match = {candidate.row, form, handlers};
    return &(cache->emplace(cache_key, std::move(entry)).first->second->match);
  }
  if (wrong_count) {
    *error =
        "'" + std::string(mnemonic) + "' does not take " + std::to_string(operands) + " operands";
    return nullptr;
  }
  *error = "this form of '" + std::string(root) + "' is not supported by the software GPU" + later +
           ": " + std::string(mnemonic);
  return nullptr;
}

std::vector<std::string> expand(const InstrDef& row) {
  const Pattern pattern = parse_pattern(row.spelling);
  std::vector<std::string> spellings = {std::string(pattern.root)};
  for (const ModifierGroup& group : pattern.modifiers) {
    std::vector<std::string> longer;
    for (const std::string& prefix : spellings) {
      if (!group.required) longer.push_back(prefix);
      for (std::string_view name : group.names) longer.push_back(prefix + "." + std::string(name));
    }
    spellings = std::move(longer);
  }
  // Only the combinations that exist.
  std::string ignored;
  std::erase_if(spellings, [&](const std::string& s) {
    const Match* m = find_instruction(s, &ignored);
    return !m || m->row != &row;
  });
  return spellings;
}

}  // namespace ridge::vm
