// How far each part of a run is, from what it writes into the folder.

#include "buoy/shard/progress_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/shard/parent_folder.h"
#include "support/temp_folder.h"

namespace buoy::shard {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

Shard part(int index, int count) {
  return {index, count, 0, "a test"};
}

// What a part wrote, and how long ago.
void write_progress(const fs::path& out, const std::string& name, const std::string& text,
                    std::chrono::seconds ago = std::chrono::seconds(0)) {
  make_folder(progress_folder(out));
  const auto file = progress_folder(out) / name;
  write_file_atomically(file, text);
  fs::last_write_time(file, fs::file_time_type::clock::now() - ago);
}

TEST(ProgressFile, ARunningPartHasARateAndATimeThatIsLeft) {
  const TempFolder scratch;
  write_progress(scratch.path(), "0000.json",
                 R"({"format":"buoy progress 1","state":"running","stage":"gain","done":50,"done_before":20,)"
                 R"("total":80,"seconds":15.0,"host":"there","pid":7})");
  const auto one = read_progress(scratch.path(), 1).front();
  EXPECT_EQ(one.state, "running");
  EXPECT_EQ(one.stage, "gain");
  EXPECT_EQ(one.host, "there");
  EXPECT_EQ(one.pid, 7);
  EXPECT_EQ(one.rate(), 2) << "30 since it began: what was there before is nobody's speed";
  EXPECT_EQ(one.left(), 15) << "30 more";
}

// One that took from others has done more than was dealt to it.
TEST(ProgressFile, WhoDidMoreThanItsShareHasNothingLeft) {
  const TempFolder scratch;
  write_progress(scratch.path(), "0000.json",
                 R"({"format":"buoy progress 1","state":"running","done":84,"done_before":0,"total":48,)"
                 R"("seconds":7.0})");
  const auto one = read_progress(scratch.path(), 1).front();
  EXPECT_EQ(one.rate(), 12);
  EXPECT_EQ(one.left(), 0);
}

TEST(ProgressFile, NothingDoneYetHasNoRate) {
  const TempFolder scratch;
  write_progress(scratch.path(), "0000.json",
                 R"({"format":"buoy progress 1","state":"running","done":20,"done_before":20,"total":80,)"
                 R"("seconds":15.0})");
  const auto one = read_progress(scratch.path(), 1).front();
  EXPECT_EQ(one.rate(), 0);
  EXPECT_EQ(one.left(), 0) << "unknown";
}

TEST(ProgressFile, SaysWhatAPartDid) {
  const TempFolder scratch;
  ProgressFile file(scratch.path(), part(1, 3));
  EXPECT_EQ(read_progress(scratch.path(), 3)[1].state, "running") << "from its start";
  file.stage("gain", 7, 2);
  auto one = read_progress(scratch.path(), 3)[1];
  EXPECT_EQ(one.shard, 1);
  EXPECT_EQ(one.stage, "gain");
  EXPECT_EQ(one.done, 2);
  EXPECT_EQ(one.total, 7);
  EXPECT_EQ(one.pid, ::getpid());
  EXPECT_FALSE(one.host.empty());
  for (int n = 0; n < 3; ++n) file.advance();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  file.end("done", "2 failed, the last: no memory");
  one = read_progress(scratch.path(), 3)[1];
  EXPECT_EQ(one.state, "done");
  EXPECT_EQ(one.error, "2 failed, the last: no memory");
  EXPECT_EQ(one.done, 5);
  EXPECT_EQ(one.done_before, 2);
  EXPECT_GE(one.seconds, 0.1);
  EXPECT_EQ(one.rate(), 3 / one.seconds);
  // The next part of a study counts for itself.
  file.stage("heads", 9, 0);
  one = read_progress(scratch.path(), 3)[1];
  EXPECT_EQ(one.done, 0);
  EXPECT_LT(one.seconds, 0.1);
}

TEST(ProgressFile, IsWrittenWhileAPartRuns) {
  const TempFolder scratch;
  ProgressFile file(scratch.path(), part(0, 1));
  file.stage("", 4, 0);
  file.advance();
  EXPECT_EQ(read_progress(scratch.path(), 1)[0].done, 0) << "not for every sample";
  std::this_thread::sleep_for(std::chrono::milliseconds(2050));
  file.advance();
  EXPECT_EQ(read_progress(scratch.path(), 1)[0].done, 2) << "every two seconds";
}

TEST(ProgressFile, PartsThatNeverBeganWait) {
  const TempFolder scratch;
  const ProgressFile file(scratch.path(), part(1, 3));
  const auto all = read_progress(scratch.path(), 3);
  ASSERT_EQ(all.size(), 3U);
  for (const int other : {0, 2}) {
    const auto& one = all[static_cast<std::size_t>(other)];
    EXPECT_EQ(one.shard, other);
    EXPECT_EQ(one.state, "waiting");
    EXPECT_EQ(one.age, 0);
    EXPECT_EQ(one.rate(), 0);
    EXPECT_EQ(one.host, "");
  }
}

TEST(ProgressFile, IsAsOldAsTheClockOfTheDiskSays) {
  const TempFolder scratch;
  const std::string running = R"({"format":"buoy progress 1","state":"running"})";
  write_progress(scratch.path(), "0000.json", running, std::chrono::seconds(300));
  write_progress(scratch.path(), "0001.json", running);
  write_progress(scratch.path(), "0002.json", running, std::chrono::seconds(-300));
  const auto all = read_progress(scratch.path(), 3);
  EXPECT_NEAR(all[0].age, 300, 20);
  EXPECT_NEAR(all[1].age, 0, 20);
  EXPECT_EQ(all[2].age, 0) << "a clock that is ahead";
  for (const auto& entry : fs::directory_iterator(shards_folder(scratch.path())))
    EXPECT_EQ(entry.path().filename(), "progress") << "what asked the disk for its time";
}

TEST(ProgressFile, OfAnotherFormatIsRefusedByName) {
  const TempFolder scratch;
  write_progress(scratch.path(), "0000.json", R"({"format":"buoy progress 9","state":"running"})");
  try {
    read_progress(scratch.path(), 1);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("0000.json: format: expected buoy progress 1"),
              std::string::npos)
        << error.what();
  }
}

TEST(ProgressFile, ThatCannotBeWrittenEndsNoRun) {
  const TempFolder scratch;
  ProgressFile file(scratch.path(), part(0, 1));
  fs::remove_all(scratch.path() / "shards");
  file.stage("", 1, 0);
  file.advance();
  file.end("done");
  EXPECT_EQ(read_progress(scratch.path(), 1)[0].state, "waiting");
}

}  // namespace
}  // namespace buoy::shard
