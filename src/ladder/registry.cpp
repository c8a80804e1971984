#include "ladder/registry.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include "ladder/ladder.h"
#include "ladder/listed.h"
#include "operator/shape.h"

namespace ridge {

namespace {

struct Registry {
  std::deque<OperatorDef> operators;  // never move: others point to them
  std::vector<const OperatorDef*> listed;
  std::vector<FamilyInfo> families;
  // Every call by name looks here: names first, then those that operators had before, then
  // families.
  std::unordered_map<std::string_view, const OperatorDef*> by_name;

  Registry() {
    for (const ListedFamily& from : listed_families()) {
      FamilyInfo family = {
          .name = from.name, .rungs = from.rungs, .rivals = from.rivals, .operators = {}};
      for (OperatorDef& op : from.operators()) {
        op.family = from.name;
        op.index = int(family.operators.size());
        prepare(op);
        operators.push_back(std::move(op));
        family.operators.push_back(&operators.back());
        listed.push_back(&operators.back());
      }
      families.push_back(std::move(family));
    }
    for (const OperatorDef* op : listed) by_name.emplace(op->name, op);
    for (const OperatorDef* op : listed)
      for (const std::string& alias : op->aliases) by_name.emplace(alias, op);
    for (const FamilyInfo& family : families)
      by_name.emplace(family.name, family.operators.front());
  }

  static void prepare(OperatorDef& op) {
    if (op.tensors.size() > kMostTensors || op.parameters.size() > kMostParameters ||
        op.dimensions.size() > kMostDimensions)
      fail_at_start(op.name,
                    "more tensors, parameters or dimensions than operator/description.h "
                    "has room for");
    for (TensorDef& tensor : op.tensors) {
      tensor.pattern = parse_shape_pattern(op, tensor.shape);
      tensor.like_index = op.tensor_index(tensor.like);
      if (tensor.formats.empty() && tensor.like_index < 0)
        fail_at_start(op.name, tensor.name + " has neither formats nor a tensor it is like");
    }
  }
};
const Registry& registry() {
  static const Registry made;
  return made;
}

const Ladder* open_family(const std::string& file, std::string& why) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    why = dlerror();
    return nullptr;
  }
  const auto made = reinterpret_cast<const Ladder* (*)()>(dlsym(library, kFamilySymbol));
  if (!made) {
    why = file + " is no family of kernels";
    return nullptr;
  }
  return made();
}

}  // namespace

void fail_at_start(const std::string& where, const std::string& what) {
  std::fprintf(stderr, "ridge: %s: %s\n", where.c_str(), what.c_str());
  std::abort();
}

std::span<const FamilyInfo> all_families() { return registry().families; }
std::span<const OperatorDef* const> all_operators() { return registry().listed; }

const OperatorDef* find_operator(std::string_view name) {
  const auto at = registry().by_name.find(name);
  return at == registry().by_name.end() ? nullptr : at->second;
}

const FamilyInfo* find_family(std::string_view name) {
  for (const FamilyInfo& family : all_families())
    if (family.name == name) return &family;
  return nullptr;
}

namespace {

// The folder of the library that holds this function.
std::string library_folder() {
  Dl_info here = {};
  dladdr(reinterpret_cast<const void*>(&library_folder), &here);
  const std::string file = here.dli_fname ? here.dli_fname : "";
  const size_t slash = file.rfind('/');
  return slash == file.npos ? "." : file.substr(0, slash);
}

}  // namespace

std::string family_library(const std::string& family) {
  return library_folder() + "/ridge/families/libridge_" + family + ".so";
}

std::string rivals_library(const std::string& family) {
  return library_folder() + "/ridge/rivals/libridge_rivals_" + family + ".so";
}

Expected<const Ladder*> load_family(const std::string& family) {
  static std::mutex mutex;
  static std::map<std::string, const Ladder*, std::less<>> loaded;
  const std::lock_guard lock(mutex);
  if (const auto known = loaded.find(family); known != loaded.end()) return known->second;
  const std::string file = family_library(family);
  std::string why;
  const Ladder* const ladder = open_family(file, why);
  if (!ladder)
    return Error{8, "the kernels of " + family + " cannot be loaded: " + why +
                        ". `./ridge build family_" + family + "` makes them"};
  loaded.emplace(family, ladder);
  return ladder;
}

Call handed_over(std::string_view op, const Call& call) {
  const OperatorDef* const def = find_operator(op);
  if (!def) fail_at_start(call.op().name, "hands over to an operator that there is not");
  Call other(*def);
  for (size_t t = 0; t < call.op().tensors.size(); ++t)
    if (const int i = def->tensor_index(call.op().tensors[t].name); i >= 0)
      other.tensors[size_t(i)] = call.tensors[t];
  for (size_t p = 0; p < call.op().parameters.size(); ++p)
    if (const int i = def->parameter_index(call.op().parameters[p].name); i >= 0)
      other.parameters[size_t(i)] = call.parameters[p];
  return other;
}

}  // namespace ridge
