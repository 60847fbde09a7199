// What `buoy status` says of the parts of a run, from their folder alone.

#include <nlohmann/json.hpp>

#include <chrono>

#include "buoy/base/file/files.h"
#include "fleet/fleet.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

class StatusOfParts : public FleetTest {
 protected:
  // Part 1 of 3 is done, part 2 never began, and part 0 runs: it wrote this so long ago.
  StatusOfParts() { run_well("t", trace(), {"--shard", "1/3"}); }
  void part_0_runs(std::chrono::seconds ago) {
    const auto file = out("t") / "shards/progress/0000.json";
    write_file_atomically(file, R"({"format":"buoy progress 1","shard":0,"state":"running","stage":"gain",)"
                                R"("done":50,"done_before":20,"total":230,"seconds":20.0,"host":"node7"})");
    fs::last_write_time(file, fs::file_time_type::clock::now() - ago);
  }
  std::string status(const std::vector<std::string>& more = {}) {
    const auto said = run("t", {"status", "run"}, more);
    EXPECT_EQ(said.exit_code, 0) << said.err;
    return said.out;
  }
};

TEST_F(StatusOfParts, ARunningPartHasARateAndATimeThatIsLeft) {
  part_0_runs(std::chrono::seconds(150));
  const auto said = status();
  EXPECT_NE(said.find("shard 0/3  running  50/230  gain  1.50 per second, about 2 min 0 s left  on node7\n"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("shard 1/3  done  3/3  on "), std::string::npos) << said;
  EXPECT_NE(said.find("shard 2/3  waiting\n"), std::string::npos) << said;
  EXPECT_NE(said.find("trace: 1 of 3 shards done, 53/233, 1.50 per second, about 2 min 0 s left\n"),
            std::string::npos)
      << said;
}

TEST_F(StatusOfParts, ThatSayNothingForThreeMinutesAreSilent) {
  part_0_runs(std::chrono::seconds(185));
  const auto said = status();
  EXPECT_NE(said.find("shard 0/3  silent for 3 min "), std::string::npos) << said;
  EXPECT_EQ(said.find("running"), std::string::npos) << said;
  EXPECT_EQ(said.find("per second"), std::string::npos) << "a rate of what may be dead\n" << said;
  // One that is over has nothing more to say.
  fs::last_write_time(out("t") / "shards/progress/0001.json",
                      fs::file_time_type::clock::now() - std::chrono::hours(5));
  EXPECT_NE(status().find("shard 1/3  done  3/3"), std::string::npos) << status();
}

TEST_F(StatusOfParts, IsJsonForPrograms) {
  part_0_runs(std::chrono::seconds(300));
  const auto said = nlohmann::json::parse(status({"--json"}));
  EXPECT_EQ(said.at("kind"), "trace");
  EXPECT_EQ(said.at("shards"), 3);
  EXPECT_EQ(said.at("merged"), false);
  const auto& parts = said.at("parts");
  ASSERT_EQ(parts.size(), 3U);
  const nlohmann::json running = {{"shard", 0},
                                  {"state", "running"},
                                  {"stage", "gain"},
                                  {"done", 50},
                                  {"total", 230},
                                  {"rate", 1.5},
                                  {"left_seconds", 120.0},
                                  {"silent_seconds", parts[0].at("silent_seconds")},
                                  {"host", "node7"},
                                  {"error", ""}};
  EXPECT_EQ(parts[0], running);
  EXPECT_NEAR(parts[0].at("silent_seconds").get<double>(), 300, 30);
  EXPECT_EQ(parts[1].at("state"), "done");
  EXPECT_EQ(parts[1].at("done"), 3);
  EXPECT_EQ(parts[2].at("state"), "waiting");
  EXPECT_EQ(parts[2].at("silent_seconds"), 0.0);
}

TEST_F(StatusOfParts, SaysThatTheyAreJoined) {
  for (const char* shard : {"0/3", "2/3"}) run_well("t", trace(), {"--shard", shard});
  EXPECT_EQ(status().find("joined"), std::string::npos) << status();
  run_well("t", {"merge", "run"});
  EXPECT_NE(status().find("trace: 3 of 3 shards done, 7/7, joined\n"), std::string::npos) << status();
  EXPECT_EQ(nlohmann::json::parse(status({"--json"})).at("merged"), true);
}

}  // namespace
}  // namespace buoy::testing
