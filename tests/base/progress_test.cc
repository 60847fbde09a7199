#include "buoy/base/progress.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "buoy/base/file/files.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using namespace std::chrono_literals;

// Progress into a file, with a clock set by hand.
class ProgressInALog : public ::testing::Test {
 protected:
  ProgressInALog() : stream_(std::fopen((folder_ / "log").c_str(), "w")) {}
  ~ProgressInALog() override { std::fclose(stream_); }

  Progress make(std::int64_t total) {
    return Progress(stream_, "answer", total, [this] { return now_; });
  }
  std::string log() const { return read_file(folder_ / "log"); }

  testing::TempFolder folder_;
  std::FILE* stream_;
  Progress::Clock::time_point now_{};
};

TEST_F(ProgressInALog, IsOneLineAMinuteWithTheEstimate) {
  {
    auto progress = make(100);
    for (int i = 0; i < 30; ++i) {
      now_ += 10s;
      progress.advance();
    }
    EXPECT_EQ(log(),
              "answer 6/100, 1 min 0 s so far, about 15 min 40 s left\n"
              "answer 12/100, 2 min 0 s so far, about 14 min 40 s left\n"
              "answer 18/100, 3 min 0 s so far, about 13 min 40 s left\n"
              "answer 24/100, 4 min 0 s so far, about 12 min 40 s left\n"
              "answer 30/100, 5 min 0 s so far, about 11 min 40 s left\n");
    now_ += 3h;
    progress.advance(70);
  }
  EXPECT_TRUE(
      log().ends_with("answer 100/100, 3 h 5 min so far, about 0 s left\n"
                      "answer 100/100, 3 h 5 min in all\n"))
      << log();
}

TEST_F(ProgressInALog, IsSilentWhereItTakesLessThanAMinute) {
  {
    auto progress = make(5);
    for (int i = 0; i < 5; ++i) {
      now_ += 10s;
      progress.advance();
    }
  }
  EXPECT_EQ(log(), "");
}

TEST(Progress, ALogThatCannotBeWrittenEndsNoRun) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  Progress::Clock::time_point now{};
  {
    Progress progress(full, "answer", 2, [&] { return now; });
    now += 2min;
    EXPECT_NO_THROW(progress.advance());
  }
  std::fclose(full);
}

struct Noted : ProgressListener {
  std::vector<std::string> lines;
  void take(const std::string& stage, const std::string& label, std::int64_t done,
            std::int64_t total) override {
    lines.push_back(stage + "|" + label + "|" + std::to_string(done) + "/" + std::to_string(total));
    if (done == 3) throw std::runtime_error("enough");
  }
};

TEST_F(ProgressInALog, GoesToAListenerOfItsThread) {
  Noted noted;
  {
    const ProgressTo listening(noted);
    tell_stage("1 of 2: tracing");
    auto progress = make(5);
    progress.advance();
    now_ += 10min;
    progress.advance();
    EXPECT_THROW(progress.advance(), std::runtime_error);
    std::thread other([&] { make(7).advance(); });
    other.join();
  }
  tell_stage("nobody listens");
  make(9).advance();
  EXPECT_EQ(noted.lines,
            (std::vector<std::string>{"1 of 2: tracing||0/0", "1 of 2: tracing|answer|1/5",
                                      "1 of 2: tracing|answer|2/5", "1 of 2: tracing|answer|3/5"}));
  EXPECT_EQ(log(), "");
}

}  // namespace
}  // namespace buoy
