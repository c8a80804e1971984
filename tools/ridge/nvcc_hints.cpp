#include "nvcc_hints.h"

#include <algorithm>
#include <regex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

struct Hint {
  std::string reason;
  std::string flag;  // empty: no flag, only the reason
};

// Words of nvcc that name one cause.
struct Row {
  const char* pattern;
  const char* reason;
  const char* flag;
};
constexpr Row kRows[] = {
    {"requires separate compilation mode",
     "a kernel that launches kernels needs separate compilation", "-rdc=true"},
    {"Unresolved extern function|Undefined reference to '.*' in '.*\\.o'",
     "device functions of other files need separate compilation", "-rdc=true"},
    {"requires --extended-lambda|flag '-extended-lambda'",
     "lambdas for kernels need a flag, and __device__ in front of their body", "--extended-lambda"},
    {"flag '--expt-relaxed-constexpr'",
     "kernels may call constexpr functions of the host with this flag", "--expt-relaxed-constexpr"},
    {"identifier \"(concept|requires|consteval|constinit|co_await|co_yield|co_return|char8_t)\" is "
     "undefined|error: .*\\n[^\\n]*(operator ?<=>|\\brequires\\b)|only available with "
     ".-std=c\\+\\+20",
     "this is C++20", "-std=c++20"},
    {"has no member "
     "\"(span|ranges|views|numbers|bit_cast|popcount|countl_zero|countr_zero|bit_width|"
     "bit_ceil|bit_floor|has_single_bit|rotl|rotr|endian|source_location|jthread|stop_token|"
     "barrier|"
     "latch|counting_semaphore|binary_semaphore|integral|floating_point|same_as|convertible_to|"
     "invocable|regular|remove_cvref_t|remove_cvref|type_identity_t|ssize|erase_if|midpoint|lerp|"
     "strong_ordering|partial_ordering|make_shared_for_overwrite|to_array|identity|atomic_ref)\"",
     "this is C++20", "-std=c++20"},
};

// Functions by the beginning of their names, and the library that has them. The first match counts.
constexpr std::pair<const char*, const char*> kLibraries[] = {
    {"cublasLt", "-lcublasLt"},
    {"cublas", "-lcublas"},
    {"cudnn", "-lcudnn"},
    {"cufft", "-lcufft"},
    {"curand", "-lcurand"},
    {"cusolver", "-lcusolver"},
    {"cusparse", "-lcusparse"},
    {"cutensor", "-lcutensor"},
    {"nccl", "-lnccl"},
    {"nvrtc", "-lnvrtc"},
    {"nvJitLink", "-lnvJitLink"},
    {"nvjpeg", "-lnvjpeg"},
    {"nvml", "-lnvidia-ml"},
    {"cupti", "-lcupti"},
    {"omp_", "-Xcompiler -fopenmp"},
    {"GOMP_", "-Xcompiler -fopenmp"},
};

std::vector<std::string> matches_of(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    if (const std::string match = (*at)[1]; !std::ranges::count(found, match))
      found.push_back(match);
  return found;
}

void add_libraries(const std::string& output, std::vector<Hint>& hints) {
  std::vector<std::string> others;
  for (const std::string& name : matches_of(output, "undefined reference to [`']([^'`]+)'")) {
    const auto library = std::ranges::find_if(
        kLibraries, [&](const auto& row) { return name.starts_with(row.first); });
    if (library != std::end(kLibraries)) {
      hints.push_back({fmt::format("{} is in a library", name), library->second});
    } else if (std::regex_match(name, std::regex("cu[A-Z]\\w+"))) {
      hints.push_back({fmt::format("{} is the driver's", name), "-lcuda"});
    } else {
      others.push_back(name);
    }
  }
  if (others.empty() || !hints.empty()) return;
  hints.push_back(
      {others.front() == "main"
           ? "there is no main in this file; if it is in another, name that one, too"
           : fmt::format("{} is in another file or library, which nvcc needs, too", others.front()),
       others.front() == "main" ? "main.cu" : "other.cu"});
}

// The folder that `#include "name"` is relative to, somewhere around the source.
fs::path find_header(const std::string& name, const fs::path& source) {
  constexpr int kDepth = 3, kEntries = 5000;
  std::error_code error;
  fs::path around = fs::absolute(source, error).parent_path();
  int entries = 0;
  for (int up = 0; up < 3 && around.has_relative_path(); ++up, around = around.parent_path())
    for (fs::recursive_directory_iterator at(around, error), end; at != end && !error;
         at.increment(error)) {
      if (++entries > kEntries) return {};
      if (at.depth() >= kDepth) at.disable_recursion_pending();
      const std::string path = at->path();
      if (path.ends_with("/" + name)) return path.substr(0, path.size() - name.size() - 1);
    }
  return {};
}

void add_headers(const Refusal& refusal, std::vector<Hint>& hints) {
  static const std::set<std::string> newer = {"format",    "print",      "expected", "mdspan",
                                              "generator", "stacktrace", "flat_map"};
  for (const std::string& name :
       matches_of(refusal.output, "fatal error: (\\S+): No such file or directory")) {
    if (newer.contains(name)) {
      hints.push_back(
          {fmt::format("the C++ library of the host's compiler has no <{}>", name), ""});
      continue;
    }
    const fs::path folder = find_header(name, refusal.source);
    hints.push_back({fmt::format("nvcc needs the folder of {}", name),
                     fmt::format("-I {}", folder.empty() ? "FOLDER" : folder.string())});
  }
}

void add_architectures(const std::string& output, std::vector<Hint>& hints) {
  for (const std::string& arch :
       matches_of(output, "requires \\.target (sm_[0-9]+[af]?)( or higher)?"))
    hints.push_back({"this needs a newer architecture", "-arch=" + arch});
  for (const std::string& arch :
       matches_of(output, "not supported on \\.target '(sm_(90|100|103|120))'"))
    hints.push_back({"instructions of one architecture alone need the a behind its number",
                     fmt::format("-gencode arch=compute_{0}a,code=compute_{0}a", arch.substr(3))});
}

std::string quoted(const std::string& flags) {
  return flags.find('"') == flags.npos ? "\"" + flags + "\"" : "'" + flags + "'";
}

}  // namespace

std::string nvcc_hint(const Refusal& refusal) {
  std::vector<Hint> hints;
  for (const Row& row : kRows)
    if (hints.empty() && std::regex_search(refusal.output, std::regex(row.pattern)))
      hints.push_back({row.reason, row.flag});  // the first cause has the others in its train
  add_libraries(refusal.output, hints);
  add_headers(refusal, hints);
  add_architectures(refusal.output, hints);

  std::vector<std::string> reasons, flags;
  if (!refusal.flags.empty()) flags.push_back(refusal.flags);
  bool new_flag = false;
  for (const Hint& hint : hints) {
    const bool given = refusal.flags.find(hint.flag) != std::string::npos;
    if (!hint.flag.empty() && given) continue;  // it did not help
    if (!hint.flag.empty() && !std::ranges::count(flags, hint.flag)) {
      flags.push_back(hint.flag);
      new_flag = true;
    }
    if (reasons.size() < 3 && !std::ranges::count(reasons, hint.reason))
      reasons.push_back(hint.reason);
  }
  if (reasons.empty()) return "";
  const std::string why = fmt::format("{}", fmt::join(reasons, "; "));
  return new_flag
             ? fmt::format("{}: --nvcc {}", why, quoted(fmt::format("{}", fmt::join(flags, " "))))
             : why;
}

}  // namespace ridge::tools
