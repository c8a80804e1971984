// The cache is the folder run in the one that layout.h names, and can be deleted at any time:
//   KEY.inputs      the files the compiler read, one per line; KEY is the hash of the source's path
//                   and contents, the flags and nvcc's version
//   CONTENT/NAME    the program; CONTENT is the hash of KEY and of the contents of all those files
//   work-XXXXXX/    where nvcc is at work
// So a changed header is a new program, and going back to the old header finds the old program.
// Only the newest programs are kept.
#include "compile.h"

#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "included_libraries.h"
#include "layout.h"
#include "nvcc_hints.h"
#include "process.h"
#include "scratch.h"
#include "terminal.h"
#include "toolkit.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kProgramsKept = 256;
constexpr double kPatience = 2;  // seconds before a progress line

// FNV-1a with 128 bits, eight bytes at a time: names for our own files, not protection against an
// attacker. A warm start hashes some megabytes of headers.
class Hash {
 public:
  void add(std::string_view text) {
    add_word(text.size());  // "ab" "c" is not "a" "bc"
    for (; text.size() >= sizeof(uint64_t); text.remove_prefix(sizeof(uint64_t))) {
      uint64_t word;
      std::memcpy(&word, text.data(), sizeof word);
      add_word(word);
    }
    for (const char c : text) add_word(uint8_t(c));
  }
  std::string text() const {
    return fmt::format("{:016x}{:016x}", uint64_t(state_ >> 64), uint64_t(state_));
  }

 private:
  using Wide = unsigned __int128;
  void add_word(uint64_t word) { state_ = (state_ ^ word) * kPrime; }
  static constexpr Wide kPrime = (Wide(1) << 88) | 0x13B;
  Wide state_ = (Wide(0x6c62272e07bb0142) << 64) | 0x62b821756295c58d;
};

std::optional<std::string> contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() < 0) return std::nullopt;
  std::string text(size_t(file.tellg()), '\0');
  file.seekg(0);
  file.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(file.gcount()));
  return text;
}

// Splits flags as a shell would, with quotes, but without running anything.
Expected<std::vector<std::string>> split(const std::string& flags) {
  wordexp_t words;
  if (wordexp(flags.c_str(), &words, WRDE_NOCMD | WRDE_UNDEF) != 0)
    return Error{kUsage, fmt::format("--nvcc: cannot read these flags: {}", flags)};
  std::vector<std::string> split(words.we_wordv, words.we_wordv + words.we_wordc);
  wordfree(&words);
  return split;
}

// What Ridge asks of nvcc, less what the user's flags decide (nvcc warns of a flag given twice).
std::vector<std::string> default_flags(const Target& target,
                                       const std::vector<std::string>& extra) {
  const auto given = [&](std::initializer_list<const char*> prefixes) {
    for (const std::string& flag : extra)
      for (const char* prefix : prefixes)
        if (flag.starts_with(prefix)) return true;
    return false;
  };
  // The program is for this device alone, so it may use what only its architecture has (wgmma and
  // the like, which plain compute_90 refuses).
  const int cc = target.capability();
  const std::string arch = fmt::format("{}{}", cc, cc >= 90 ? "a" : "");
  const std::string code = target.software ? fmt::format("compute_{}", arch)
                                           : fmt::format("[compute_{},sm_{}]", arch, arch);
  std::vector<std::string> flags;
  if (!given({"-std", "--std"})) flags.push_back("-std=c++17");
  if (!given({"-O", "--optimize"})) flags.push_back("-O3");
  if (!given({"-G", "--device-debug", "-lineinfo", "--generate-line-info"}))
    flags.push_back("-lineinfo");
  // Lines of the host code, for reports of failing calls; one call must not stand for several.
  if (!given({"-g", "--debug", "-Xcompiler", "--compiler-options"}))
    flags.insert(
        flags.end(),
        {"-Xcompiler", "-g1,-fno-crossjumping,-fno-tree-tail-merge,-fno-optimize-sibling-calls"});
  if (!given({"-cudart", "--cudart"})) flags.insert(flags.end(), {"-cudart", "shared"});
  if (!given({"-arch", "--gpu-arch", "-code", "--gpu-code", "-gencode", "--generate-code"}))
    flags.insert(flags.end(), {"-gencode", fmt::format("arch=compute_{},code={}", arch, code)});
  return flags;
}

// The prerequisites of a make rule `target : a b \ c …`; a space inside a name is `\ `. Those in
// `work` are not the user's.
std::vector<std::string> read_depfile(const fs::path& work) {
  const std::string text = contents(work / "inputs.d").value_or("");
  std::vector<std::string> inputs;
  std::string word;
  const size_t colon = text.find(" :");
  for (size_t i = colon == std::string::npos ? text.size() : colon + 2; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\n';
    const char next = i + 1 < text.size() ? text[i + 1] : '\n';
    if (c == '\\' && next == ' ') {
      word += text[++i];
    } else if (c == '\\' && next == '\n') {
      continue;
    } else if (c == ' ' || c == '\n') {
      if (!word.empty()) inputs.push_back(fs::absolute(std::exchange(word, "")));
    } else {
      word += c;
    }
  }
  std::erase_if(inputs, [&](const std::string& input) { return input.starts_with(work.string()); });
  return inputs;
}

// nvcc hands file names to a shell, and takes a comma for the end of one. What such a name would
// break is compiled through a file with a plain name that includes it.
Expected<fs::path> plainly_named(const fs::path& source, const fs::path& work) {
  const std::string path = fs::absolute(source);
  if (path.find_first_of("\"\\\n") != path.npos)
    return Error{kUsage, fmt::format("nvcc cannot compile {}: there is a double quote, a backslash "
                                     "or a line break in its path; rename it",
                                     source.string())};
  if (path.find_first_of("$`,") == path.npos) return source;
  const fs::path plain = work / ("source" + source.extension().string());
  std::ofstream(plain) << "#include \"" << path << "\"\n";
  return plain;
}

// The name of the program that these inputs make; nothing where one of them is gone.
std::optional<std::string> content_hash(const std::string& key,
                                        const std::vector<std::string>& inputs) {
  Hash hash;
  hash.add(key);
  for (const std::string& input : inputs) {
    const auto text = contents(input);
    if (!text) return std::nullopt;
    hash.add(input);
    hash.add(*text);
  }
  return hash.text();
}

struct Cached {
  fs::path program;
  std::vector<std::string> inputs;
};
std::optional<Cached> find_cached(const fs::path& cache, const std::string& key,
                                  const std::string& name) {
  std::ifstream list(cache / (key + ".inputs"));
  if (!list) return std::nullopt;
  std::vector<std::string> inputs;
  for (std::string line; std::getline(list, line);) inputs.push_back(line);
  const auto content = content_hash(key, inputs);
  if (!content || !fs::exists(cache / *content / name)) return std::nullopt;
  std::error_code error;
  fs::last_write_time(cache / *content, fs::file_time_type::clock::now(), error);  // used: keep it
  return Cached{cache / *content / name, std::move(inputs)};
}

void drop_old_programs(const fs::path& cache) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (const auto& entry : fs::directory_iterator(cache, error))
    entries.emplace_back(entry.last_write_time(error), entry.path());
  if (entries.size() <= 2 * kProgramsKept) return;  // a program and its .inputs
  std::sort(entries.begin(), entries.end());
  for (size_t i = 0; i < entries.size() - kProgramsKept; ++i)
    fs::remove_all(entries[i].second, error);
}

// Run by several processes at once, the last to finish wins, and each sees only finished files.
Expected<fs::path> store(const fs::path& cache, const std::string& key, const fs::path& work,
                         const std::string& name, const std::vector<std::string>& inputs) {
  const auto content = content_hash(key, inputs);
  if (inputs.empty() || !content)
    return Error{kMissing, "nvcc did not say which files it read; its -MD has no effect here"};
  std::ofstream list(work / "inputs");
  for (const std::string& input : inputs) list << input << '\n';
  list.close();
  fs::create_directories(cache / *content);
  fs::rename(work / "program", cache / *content / name);
  fs::rename(work / "inputs", cache / (key + ".inputs"));
  drop_old_programs(cache);
  return cache / *content / name;
}

void note_inputs(const CompileRequest& request, const std::vector<std::string>& inputs) {
  if (request.inputs) request.inputs->assign(inputs.begin(), inputs.end());
}

Outcome call_nvcc(const Toolkit& compiler, const std::vector<std::string>& flags,
                  const fs::path& source, const fs::path& work, const CompileRequest& request) {
  const std::string shown = request.source.filename();
  // nvcc leaves its temporary files behind when it is ended: here they go with the folder.
  Command nvcc = {.program = compiler.nvcc,
                  .arguments = flags,
                  .environment = {{"TMPDIR", work.string()}},
                  .capture = true};
  for (const std::string& argument :
       {std::string("-MD"), std::string("-MF"), (work / "inputs.d").string(), std::string("-o"),
        (work / "program").string(), source.string()})
    nvcc.arguments.push_back(argument);
  Progress progress(request.quiet);
  bool patient = true;
  nvcc.tick = [&](double seconds) {
    if (seconds < kPatience) return;
    if (std::exchange(patient, false) && !understands_escapes(STDERR_FILENO))
      progress.keep(fmt::format("compiling {} …", shown));
    progress.show(fmt::format("compiling {} … {:.0f} s", shown, seconds));
  };
  return run(nvcc);
}

Expected<fs::path> compile_into(const fs::path& cache, const CompileRequest& request,
                                const Target& target) {
  const auto compiler = find_toolkit();
  if (!compiler) return compiler.error();
  const auto extra = split(request.extra_flags);
  if (!extra) return extra.error();
  const auto source = contents(request.source);
  if (!source) return Error{kUsage, fmt::format("{} cannot be read", request.source.string())};

  std::vector<std::string> flags = default_flags(target, *extra);
  flags.insert(flags.end(), extra->begin(), extra->end());
  for (const fs::path& headers : layout().headers)  // ridge/scan.cuh and the like, behind theirs
    flags.insert(flags.end(), {"-I", headers});
  // What -lcuda finds where there is no driver, and -lcublas in a toolkit without it; behind the
  // user's folders.
  if (const fs::path stubs = layout().software_gpu / "stubs"; fs::exists(stubs)) {
    flags.push_back("-L" + stubs.string());
    if (!fs::exists(compiler->root / "include" / "cublas_v2.h"))
      flags.insert(flags.end(), {"-I", stubs / "include"});
  }
  if (const auto libraries = included_libraries(request.source, *extra); !libraries.empty()) {
    flags.insert(flags.end(), {"-Xlinker", "--as-needed"});  // an include is no call
    flags.insert(flags.end(), libraries.begin(), libraries.end());
  }
  const std::string name = request.source.stem();
  Hash hash;
  hash.add(fs::absolute(request.source).string());
  hash.add(*source);
  hash.add(compiler->nvcc.string() + " " + compiler->version);
  if (!extra->empty()) hash.add(fs::current_path().string());  // -I. and the like
  for (const std::string& flag : flags) hash.add(flag);
  const std::string key = hash.text();
  if (const auto cached = find_cached(cache, key, name)) {
    note_inputs(request, cached->inputs);
    return cached->program;
  }

  const ScratchFolder work(cache / "work-");
  if (!work.ready())
    return Error{kMissing, fmt::format("the compile cache cannot be used: {}: {}", cache.string(),
                                       std::strerror(errno))};
  const auto plain = plainly_named(request.source, work.path());
  if (!plain) return plain.error();
  const Outcome outcome = call_nvcc(*compiler, flags, *plain, work.path(), request);
  tell(outcome.output);  // nvcc's words, as they are
  const std::vector<std::string> inputs = read_depfile(work.path());
  note_inputs(request, inputs);
  if (outcome.start_error != 0)
    return Error{kMissing, fmt::format("{} does not start: {}", compiler->nvcc.string(),
                                       std::strerror(outcome.start_error))};
  if (outcome.signal != 0) return Error{128 + outcome.signal, "the compiler was interrupted"};
  if (outcome.exit_code != 0) {
    const std::string hint = nvcc_hint({outcome.output, request.extra_flags, request.source});
    if (!hint.empty()) complain("hint: " + hint);
    return Error{kDoesNotCompile, ""};
  }
  return store(cache, key, work.path(), name, inputs);
}

}  // namespace

Expected<fs::path> compile(const CompileRequest& request, const Target& target) {
  const auto cache = cache_folder("run");
  if (!cache) return cache.error();
  try {
    return compile_into(*cache, request, target);
  } catch (const fs::filesystem_error& error) {
    return Error{kMissing, fmt::format("the compile cache cannot be used: {}", error.what())};
  }
}

}  // namespace ridge::tools
