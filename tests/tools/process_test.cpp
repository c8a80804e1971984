#include "process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

namespace ridge::tools {
namespace {

Command shell(const std::string& script) {
  return {.program = "/bin/sh", .arguments = {"-c", script}, .capture = true};
}

TEST(Process, ReturnsCodeAndOutputInOrder) {
  const Outcome outcome = run(shell("echo a; echo b >&2; echo c; exit 7"));
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.output, "a\nb\nc\n");
  EXPECT_FALSE(outcome.ok());
}

TEST(Process, CapturesMoreThanAPipeHolds) {
  const Outcome outcome = run(shell("head -c 3000000 /dev/zero"));
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.output.size(), 3000000u);
}

TEST(Process, AddsToTheEnvironmentAndChangesFolder) {
  Command command = shell("echo $RIDGE_WORD; pwd");
  command.environment = {{"RIDGE_WORD", "two words"}};
  command.folder = "/";
  EXPECT_EQ(run(command).output, "two words\n/\n");
}

TEST(Process, NamesTheSignal) {
  const Outcome outcome = run(shell("kill -SEGV $$"));
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_FALSE(outcome.killed);
}

TEST(Process, EndsWhatTakesTooLong) {
  Command command = shell("exec sleep 60");
  command.kill_after = 0.1;
  const Outcome outcome = run(command);
  EXPECT_TRUE(outcome.killed);
  EXPECT_LT(outcome.seconds, 30);
}

TEST(Process, EndsWhatDoesNotWantToEnd) {
  Command command = shell("trap '' TERM; while :; do sleep 0.05; done");
  command.kill_after = 0.2;
  const Outcome outcome = run(command);
  EXPECT_TRUE(outcome.killed);
  EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST(Process, DoesNotWaitForWhatAProgramLeavesBehind) {
  const Outcome outcome = run(shell("sleep 30 & echo done"));
  EXPECT_EQ(outcome.output, "done\n");
  EXPECT_LT(outcome.seconds, 20);
}

TEST(Process, SaysWhyAProgramDoesNotStart) {
  EXPECT_EQ(run({.program = "/nowhere/program"}).start_error, ENOENT);
  Command command = shell("true");
  command.folder = "/nowhere";
  EXPECT_EQ(run(command).start_error, ENOENT);
}

}  // namespace
}  // namespace ridge::tools
