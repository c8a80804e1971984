#include "torch_beside.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "ladders.h"
#include "layout.h"

extern char** environ;

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kNone = "python3 here has no PyTorch that sees the GPU";

std::string case_line(const Climb& climb) {
  return json(static_cast<const ladders::CaseAnswer&>(climb)).dump() + "\n";
}

void note(Climb& climb, const json& answer) {
  for (const std::string rival : {"torch", "torch.compile"}) {
    const bool wrong = answer.contains(rival + "_wrong");
    if (!wrong && !answer.contains(rival + "_us")) continue;
    climb.steps.push_back({});
    Step& step = climb.steps.back();
    step.name = rival;
    step.rival = true;
    if (wrong) {
      step.wrong = answer[rival + "_wrong"];
      continue;
    }
    step.us = answer[rival + "_us"].get<std::vector<double>>();
    step.beside = answer["rung"];
    step.beside_us = answer["ridge_us"].get<std::vector<double>>();
    step.by_graph = answer["by_graph"];
  }
}

}  // namespace

TorchBeside::TorchBeside(const Target& target, bool quick) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) return;
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]), close(in[1]);
    return;
  }
  const fs::path build = fs::path(ladders_program()).parent_path().parent_path();
  std::vector<std::string> words = {"python3", layout().torch_rivals, "--build", build};
  if (quick) words.insert(words.end(), {"--pairs", "20", "--eager"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> settings;
  for (char** entry = environ; *entry; ++entry) settings.emplace_back(*entry);
  for (const auto& [name, value] : environment_of(target)) settings.push_back(name + "=" + value);
  std::vector<char*> envp;
  for (auto entry = settings.rbegin(); entry != settings.rend(); ++entry)
    envp.push_back(entry->data());  // ours first: that is the one that counts
  envp.push_back(nullptr);
  if (posix_spawnp(&process_, "python3", &actions, nullptr, argv.data(), envp.data()) != 0)
    process_ = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
}

TorchBeside::~TorchBeside() { end(); }

void TorchBeside::end() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  to_ = from_ = -1;
  if (process_ <= 0) return;
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

bool TorchBeside::read_line(std::string& line) {
  size_t newline;
  while ((newline = unread_.find('\n')) == unread_.npos) {
    char buffer[65536];
    const ssize_t count = read(from_, buffer, sizeof buffer);
    if (count <= 0) return false;
    unread_.append(buffer, size_t(count));
  }
  line = unread_.substr(0, newline);
  unread_.erase(0, newline + 1);
  return true;
}

void TorchBeside::add_to(Climb& climb) {
  if (!missing_.empty()) return;
  const std::string line = case_line(climb);
  struct sigaction ignore = {}, before = {};  // a Python that has ended is no reason to end
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  const bool asked = process_ > 0 && write(to_, line.data(), line.size()) == ssize_t(line.size());
  sigaction(SIGPIPE, &before, nullptr);
  std::string text;
  if (!asked || !read_line(text)) {
    end();
    missing_ = kNone;
    return;
  }
  const json answer = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (answer.is_object()) note(climb, answer);
}

}  // namespace ridge::tools
