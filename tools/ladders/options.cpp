#include <charconv>
#include <cstdio>
#include <cstring>

#include <nlohmann/json.hpp>

#include "commands.h"

namespace ridge::ladders {
namespace {

Expected<std::pair<std::string, std::string>> split(const std::string& flag,
                                                    const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    return Error{2, flag + " wants NAME=VALUE, not '" + text + "'"};
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

int fail(const Status& status) {
  std::printf("%s\n",
              nlohmann::json{{"error", status.message()}, {"code", status.code()}}.dump().c_str());
  std::fflush(stdout);
  return status.code() == 2 || status.code() == 8 ? status.code() : 4;
}

Expected<Options> read_options(int argc, char** argv) {
  Options options;
  const std::pair<const char*, std::string*> texts[] = {{"--shape", &options.shape},
                                                        {"--rung", &options.rung},
                                                        {"--distribution", &options.distribution},
                                                        {"--folder", &options.folder}};
  const std::pair<const char*, bool*> flags[] = {{"--hot", &options.hot},
                                                 {"--tour", &options.tour},
                                                 {"--small", &options.small},
                                                 {"--fast", &options.fast},
                                                 {"--rivals", &options.rivals}};
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      options.operators.push_back(word);
      continue;
    }
    bool known = word == "--known-roofs";
    if (known) options.roofs = false;
    for (const auto& [name, value] : flags)
      if (word == name) known = *value = true;
    if (known) continue;
    if (++i == argc) return Error{2, word + " wants a value"};
    for (const auto& [name, value] : texts)
      if (word == name) *value = argv[i], known = true;
    if (known) continue;
    if (word == "--seed") {
      options.seed = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--dtype") {
      options.dtypes.push_back(argv[i]);
    } else if (word == "--size" || word == "--set") {
      const auto pair = split(word, argv[i]);
      if (!pair) return pair.error();
      (word == "--size" ? options.sizes : options.values).push_back(*pair);
    } else {
      return Error{2, "unknown option " + word};
    }
  }
  return options;
}

Expected<Loaded> load_operator(const std::string& name) {
  const OperatorDef* const op = find_operator(name);
  if (!op) return Error{2, "there is no operator '" + name + "'"};
  const auto ladder = load_family(op->family);
  if (!ladder) return ladder.error();
  return Loaded{*ladder, op};
}

}  // namespace ridge::ladders
