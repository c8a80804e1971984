// What `ridge` and ridge_ladders say to each other arrives as it was said.
#include "ladders/protocol.h"

#include <gtest/gtest.h>

namespace ridge::ladders {
namespace {

Request full_request() {
  Request request;
  request.command = Command::measure;
  request.operators = {"add", "gemv"};
  request.shape = "4096x512";
  request.rung = "vectors";
  request.distribution = "runs";
  request.dtypes = {"bf16", "a=e4m3"};
  request.sizes = {{"rows", "4096"}};
  request.values = {{"alpha", "2"}, {"beta", "-0.5"}};
  request.seed = 7;
  request.hot = request.tour = request.small = request.fast = true;
  request.known_roofs = request.rivals = true;
  request.folder = "a folder";
  return request;
}

TEST(Protocol, RequestComesBack) {
  const auto words = words_of(full_request());
  const auto again = read_request(words);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->command, Command::measure);
  EXPECT_EQ(again->sizes, full_request().sizes);
  EXPECT_EQ(again->seed, 7u);
  EXPECT_EQ(again->folder, "a folder");
  EXPECT_TRUE(again->hot && again->tour && again->small && again->fast && again->known_roofs &&
              again->rivals);
  EXPECT_EQ(words_of(*again), words);
}

TEST(Protocol, RequestThatIsWrongIsTold) {
  EXPECT_FALSE(read_request({}));
  EXPECT_FALSE(read_request({"climb"}));
  EXPECT_EQ(read_request({"list", "--what"}).error().message, "unknown option --what");
  EXPECT_EQ(read_request({"list", "--shape"}).error().message, "--shape wants a value");
  EXPECT_EQ(read_request({"list", "--set", "alpha"}).error().message,
            "--set: NAME=VALUE is wanted, not 'alpha'");
}

template <class T>
T again(const T& answer) {
  const auto heard = read_answer(line_of(answer));
  return heard ? std::get<T>(*heard) : T();
}

CaseAnswer full_case() {
  CaseAnswer c;
  c.operator_ = "gemv";
  c.family = "gemv";
  c.dtype = "bf16";
  c.shape = "64x32";
  c.settings = "alpha=2";
  c.asked = {{{"a", "e4m3"}}, {{"alpha", 2.5}, {"mode", "mean"}}, "runs", {"bias"}, {"b"},
             {{"out", "in"}}};
  c.unit = "GB/s";
  c.seed = 3;
  c.read = 10;
  c.written = 20;
  c.flops = 30;
  c.to_device = 40;
  c.to_host = 50;
  c.verified_at = "8x8";
  c.verified_by = "samples";
  c.samples = 5;
  return c;
}

TEST(Protocol, CaseComesBack) {
  const CaseAnswer sent = full_case(), c = again(sent);
  EXPECT_EQ(c.asked, sent.asked);
  EXPECT_EQ(line_of(c), line_of(sent));
  EXPECT_EQ(c.to_host, 50);
  EXPECT_EQ(c.samples, 5);
}

TEST(Protocol, StepsComeBack) {
  StepAnswer sent = {kTimed, {}};
  sent.step.name = "cub";
  sent.step.rival = true;
  sent.step.us = {1.5, 2.5};
  sent.step.by_graph = true;
  sent.step.implausible_under = 3;
  sent.step.thread_instructions = 0;  // none, but counted
  const StepAnswer heard = again(sent);
  EXPECT_EQ(heard.stage, kTimed);
  EXPECT_TRUE(heard.step.rival && heard.step.by_graph);
  EXPECT_EQ(heard.step.us, sent.step.us);
  EXPECT_EQ(heard.step.thread_instructions, 0u);
  EXPECT_FALSE(heard.step.warp_instructions);
}

TEST(Protocol, ChoiceComesBack) {
  ChoiceAnswer sent;
  sent.of_case = full_case();
  sent.launches = 2;
  sent.chosen = "vectors";
  sent.candidates.resize(2);
  sent.candidates[0].rejected = "too wide";
  sent.candidates[1].predicted_us = 4.5;
  sent.candidates[1].modelled_us = 4.25;
  const ChoiceAnswer heard = again(sent);
  ASSERT_EQ(heard.candidates.size(), 2u);
  EXPECT_EQ(heard.candidates[0].rejected, "too wide");
  EXPECT_EQ(heard.candidates[1].predicted_us, 4.5);
  EXPECT_EQ(heard.candidates[1].modelled_us, 4.25);
  EXPECT_EQ(heard.of_case.operator_, "gemv");
  EXPECT_EQ(line_of(heard), line_of(sent));
}

TEST(Protocol, FamilyAndFailureComeBack) {
  FamilyAnswer sent;
  sent.family = "scan";
  sent.operators = {{{"name", "inclusive_scan"}}};
  sent.rungs = {{"look_back", "one pass", {{"barriers", 2}}}};
  EXPECT_EQ(again(sent).rungs.at(0).claims["barriers"], 2);
  EXPECT_EQ(line_of(again(sent)), line_of(sent));
  EXPECT_EQ(again(Failure{"no device", 4}).code, 4);
}

TEST(Protocol, OtherLinesAreNoAnswers) {
  for (const char* line : {"", "hello", "[1]", "{}", R"({"event": "something else"})",
                           R"({"event": 3})", R"({"event": "case", "shape": 4})"})
    EXPECT_FALSE(read_answer(line)) << line;
}

}  // namespace
}  // namespace ridge::ladders
