#include "vm/report/host_place.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

#include "core/text.h"

namespace ridge::vm::report {
namespace {

std::string_view file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool is_ours(const char* module) {
  const std::string_view name = file_name(module);
  return name.starts_with("libridge_gpu.so") || name.starts_with("libcudart.so") ||
         name.starts_with("libcuda.so");
}

// A library that the program calls, above the runtime and Ridge's kernels.
bool is_standin(const char* module) { return file_name(module).starts_with("libcublas"); }

// The C and C++ libraries: what faults there was handed its pointer by somebody else.
bool is_of_system(const std::string& module) {
  const std::string_view name = std::string_view(module).substr(module.rfind('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("libm.so") ||
         name.starts_with("libstdc++.so") || name.starts_with("ld-linux");
}

// One function that covers an address; several where calls were inlined, the innermost first.
struct Level {
  std::string function, file;
  uint32_t line = 0;
};

struct Module {
  std::string path;
  uintptr_t bias = 0;  // what the loader added to the addresses in the file
};

Module module_of(uintptr_t address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (!dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map),
               RTLD_DL_LINKMAP) ||
      !map)
    return {};
  // The program itself has an empty name in the loader's list.
  char self[4096];
  if (map->l_name && *map->l_name) return {map->l_name, map->l_addr};
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  return {length > 0 ? std::string(self, size_t(length)) : std::string(), map->l_addr};
}

// What a command writes to its standard output; nothing where it cannot be started.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Nothing that the program's environment preloads belongs into the tool.
  const char* path = std::getenv("PATH");
  std::string path_entry = std::string("PATH=") + (path ? path : "/usr/bin:/bin");
  char* environment[] = {path_entry.data(), nullptr};
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t n = 0; !failed && (n = read(ends[0], piece, sizeof piece)) > 0;)
    text.append(piece, size_t(n));
  close(ends[0]);
  if (!failed) waitpid(child, nullptr, 0);
  return text;
}

// addr2line -a -f -i writes for each address "0x1234", then two lines for each level.
std::map<uintptr_t, std::vector<Level>> read_levels(const std::string& text, uintptr_t bias) {
  std::map<uintptr_t, std::vector<Level>> result;
  std::vector<Level>* levels = nullptr;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("0x")) {
      levels = &result[std::strtoull(line.c_str(), nullptr, 16) + bias];
      continue;
    }
    Level level{.function = line, .file = {}, .line = 0};
    if (!levels || !std::getline(in, line)) break;
    if (const size_t discriminator = line.find(" (discriminator"); discriminator != line.npos)
      line.resize(discriminator);
    if (const size_t colon = line.rfind(':'); colon != line.npos && !line.starts_with("??")) {
      level.line = uint32_t(std::strtoul(line.c_str() + colon + 1, nullptr, 10));
      if (level.line) level.file = line.substr(0, colon);
    }
    levels->push_back(std::move(level));
  }
  return result;
}

// The levels of all frames, the innermost first.
std::vector<Level> levels_of(const HostCall& call) {
  std::map<std::string, std::vector<std::string>> commands;  // one per module
  std::map<std::string, uintptr_t> biases;
  std::vector<uintptr_t> addresses;
  for (const uintptr_t frame : call.frames) {
    if (!frame) break;
    const uintptr_t address = frame - 1;  // in the call, not behind it
    const Module module = module_of(address);
    if (module.path.empty() || is_of_system(module.path)) continue;
    addresses.push_back(address);
    auto& command = commands[module.path];
    if (command.empty()) command = {"addr2line", "-a", "-f", "-C", "-i", "-e", module.path};
    biases[module.path] = module.bias;
    command.push_back(hex_text(address - module.bias));
  }
  std::map<uintptr_t, std::vector<Level>> found;
  for (const auto& [module, command] : commands)
    found.merge(read_levels(output_of(command), biases[module]));
  std::vector<Level> levels;
  for (const uintptr_t address : addresses)
    levels.insert(levels.end(), found[address].begin(), found[address].end());
  return levels;
}

// What nvcc puts between the user's line and the launch: a function of its own, called by one that
// has the kernel's name and line.
bool is_nvccs_own(const Level& level) {
  return level.function.starts_with("__device_stub__") || level.file.ends_with(".stub.c");
}

std::string function_and_offset(uintptr_t frame, const std::vector<Level>& levels) {
  const Module module = module_of(frame - 1);
  const std::string file = module.path.substr(module.path.rfind('/') + 1);
  const std::string offset = "+" + hex_text(frame - module.bias);
  for (const Level& level : levels)
    if (level.function != "??" && !is_nvccs_own(level))
      return without_parameters(level.function) + " (" + file + offset + ")";
  return file + offset;
}

}  // namespace

HostCall host_call() {
  HostCall call;
  Dl_info here{};
  // Linked into a program of ours, the runtime cannot tell its own frames from the program's.
  if (!dladdr(reinterpret_cast<void*>(&host_call), &here) || !is_ours(here.dli_fname)) return call;
  void* raw[64];
  const int n = backtrace(raw, 64);
  size_t kept = 0;
  for (int k = 0; k < n && kept < HostCall::kDepth; ++k) {
    Dl_info info{};
    const auto address = reinterpret_cast<uintptr_t>(raw[k]);
    if (!dladdr(raw[k], &info) || !info.dli_fname) continue;
    if (is_ours(info.dli_fname)) {
      if (!kept) call.function = address;
    } else if (is_standin(info.dli_fname)) {  // whatever it calls is no code of the user's
      call.frames = {};
      kept = 0;
    } else {
      call.frames[kept++] = address;
    }
  }
  return call;
}

HostCall host_call_at(uintptr_t address) {
  HostCall call;
  call.frames[0] = address + 1;  // frames are return addresses
  void* raw[64];
  void** const end = raw + backtrace(raw, 64);
  void** at = std::find(raw, end, reinterpret_cast<void*>(address));
  for (size_t k = 1; k < HostCall::kDepth && at != end && ++at != end; ++k)
    call.frames[k] = reinterpret_cast<uintptr_t>(*at);
  return call;
}

std::string called_function(const HostCall& call) {
  Dl_info info{};
  const bool named =
      call.function && dladdr(reinterpret_cast<void*>(call.function - 1), &info) && info.dli_sname;
  return named ? info.dli_sname : "";
}

Place host_place(const HostCall& call) {
  Place place;
  place.instruction = called_function(call);
  if (!call) return place;
  const std::vector<Level> levels = levels_of(call);
  for (size_t k = 0; k < levels.size(); ++k) {
    if (is_nvccs_own(levels[k])) {
      while (k + 1 < levels.size() && is_nvccs_own(levels[k + 1])) ++k;
      ++k;  // and the function with the kernel's name
      continue;
    }
    if (levels[k].file.empty() || is_of_toolkit(levels[k].file)) continue;
    place.file = levels[k].file;
    place.line = levels[k].line;
    place.function = without_parameters(levels[k].function);
    return place;
  }
  place.function = function_and_offset(call.frames[0], levels);
  return place;
}

}  // namespace ridge::vm::report
