// Several processes of one machine: they share samples, survive each other, and leave what one would have
// left.

#include "fleet/fleet.h"

#include <chrono>

#include "buoy/base/file/files.h"

namespace buoy::testing {
namespace {

class Processes : public FleetTest {};

TEST_F(Processes, LeaveWhatOneLeaves) {
  for (const auto& words : {trace(), eval(), watch()}) {
    const std::string& kind = words.front();
    run_well(kind + "-single", words);
    run_well(kind + "-three", words, {"--processes", "3"});
    EXPECT_FALSE(path_exists(out(kind + "-three") / "shards"));
    EXPECT_TRUE(same_run(out(kind + "-single"), out(kind + "-three")));
  }
}

TEST_F(Processes, SamplesOfACardThatFailsGoToTheOthers) {
  ask(20);  // so many that each process begins two, whoever is faster
  for (const auto& words : {trace(), eval()}) {
    const std::string& kind = words.front();
    run_well(kind + "-single", words);
    for (const std::string fault : {"1:1", "0:2", "2:2:kill", "1:1:kill"}) {
      const std::string place = kind + "-" + fault;
      const auto result = run(place, words, {"--processes", "3"}, "BUOY_TEST_FAIL=" + fault + " ");
      ASSERT_EQ(result.exit_code, 0) << result.err;
      EXPECT_NE(result.err.find("is taken out, its samples go to the others"), std::string::npos)
          << place << ": " << result.err;
      EXPECT_TRUE(same_run(out(kind + "-single"), out(place))) << fault;
    }
  }
}

TEST_F(Processes, WhenAllFailTheErrorIsTheirs) {
  const auto result = run("t", trace(), {"--processes", "1"}, "BUOY_TEST_FAIL=0:1 ");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_NE(result.err.find("a stand-in that fails at sample 1"), std::string::npos) << result.err;
  // And the run goes on.
  run_well("t", trace(), {"--processes", "1"});
  run_well("single", trace());
  EXPECT_TRUE(same_run(out("single"), out("t")));
}

TEST_F(Processes, PartsThatStealShareWhatADeadOneLeft) {
  for (const auto& words : {trace(), eval()}) {
    const std::string& kind = words.front();
    run_well(kind + "-single", words);
    const std::string place = kind + "-steal";
    const auto killed = run(place, words, {"--shard", "1/2", "--steal"}, "BUOY_TEST_FAIL=1:2:kill ");
    EXPECT_NE(killed.exit_code, 0);
    // It takes over when the lease of the dead one has run out.
    run_well(place, words, {"--shard", "0/2", "--steal"}, "BUOY_LEASE_SECONDS=0.5 ");
    run_well(place, {"merge", "run"});
    EXPECT_TRUE(same_run(out(kind + "-single"), out(place)));
    const auto without = run(place, words, {"--shard", "1/2"});
    EXPECT_EQ(without.exit_code, 2) << "the run began with --steal";
  }
}

TEST_F(Processes, ALogHasOneLineOfProgressForAll) {
  const auto silent = run("silent", trace(), {"--processes", "2"});
  ASSERT_EQ(silent.exit_code, 0) << silent.err;
  EXPECT_EQ(silent.err.find("2 processes: sample"), std::string::npos)
      << "less than a minute: " << silent.err;
  const auto told = run("told", trace(), {"--processes", "2"}, "BUOY_LOG_SECONDS=0 ");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_NE(told.err.find("2 processes: sample 7/7, "), std::string::npos) << told.err;
  EXPECT_NE(told.err.find(" in all\n"), std::string::npos) << told.err;
  const auto wrong = run("wrong", trace(), {}, "BUOY_LOG_SECONDS=often ");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("BUOY_LOG_SECONDS: expected 0 to 86400 seconds, found often"), std::string::npos)
      << wrong.err;
}

TEST_F(Processes, AFullDiskEndsAPartThatGoesOnWhenThereIsRoom) {
  for (const auto& words : {trace(), eval()}) {
    const std::string& kind = words.front();
    run_well(kind + "-single", words);
    const std::string place = kind + "-full";
    // As large as a file may get: plans and notes fit, what samples leave does not.
    const auto full = run(place, words, {"--shard", "0/2"}, "trap '' XFSZ; ulimit -f 4; ");
    EXPECT_EQ(full.exit_code, 4) << full.err;
    EXPECT_NE(full.err.find("File too large"), std::string::npos) << full.err;
    const auto early = run(place, {"merge", "run"});
    EXPECT_NE(early.exit_code, 0) << "a part that met a full disk was joined";
    run_well(place, words, {"--shard", "0/2"});
    run_well(place, words, {"--shard", "1/2"});
    run_well(place, {"merge", "run"});
    EXPECT_TRUE(same_run(out(kind + "-single"), out(place)));
  }
}

TEST_F(Processes, ASignalEndsBehindTheSampleInHand) {
  for (const auto& words : {trace(), eval(), watch()}) {
    const std::string& kind = words.front();
    run_well(kind + "-single", words);
    for (const std::string signal : {"TERM", "USR1"}) {
      const std::string place = kind + "-" + signal;
      const auto began = std::chrono::steady_clock::now();
      const auto stopped =
          shell(place, line(words) + " --shard 0/1 > said 2>&1 & pid=$!; " + until_a_sample("0000-of-0001") +
                           "kill -" + signal + " $pid; wait $pid");
      EXPECT_EQ(stopped.exit_code, 75) << signal << read_file(scratch_ / place / "said");
      EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30)) << signal;
      const std::string said = read_file(scratch_ / place / "said");
      EXPECT_NE(said.find("the same command goes on behind the last whole sample"), std::string::npos)
          << said;
      EXPECT_EQ(said.find("--resume"), std::string::npos) << said;
      run_well(place, words, {"--shard", "0/1"});
      run_well(place, {"merge", "run"});
      EXPECT_TRUE(same_run(out(kind + "-single"), out(place))) << signal;
    }
  }
}

TEST_F(Processes, ASignalEndsAllThatOneStarted) {
  ask(24);
  for (const auto& words : {trace(), eval()}) {
    const std::string& kind = words.front();
    run_well(kind + "-single", words);
    const std::string place = kind + "-two";
    const auto stopped = shell(place, line(words) + " --processes 2 > said 2>&1 & pid=$!; " +
                                          until_a_sample("000?-of-0002") + "kill -TERM $pid; wait $pid");
    const std::string said = read_file(scratch_ / place / "said");
    EXPECT_EQ(stopped.exit_code, 75) << said;
    EXPECT_NE(said.find("the same command goes on behind the last whole sample"), std::string::npos) << said;
    EXPECT_EQ(said.find("is taken out"), std::string::npos) << "they were told to stop: " << said;
    const auto status = run(place, {"status", "run"});
    EXPECT_EQ(status.out.find("running"), std::string::npos) << status.out;
    EXPECT_NE(status.out.find("0 of 2 shards done"), std::string::npos) << status.out;
    run_well(place, words, {"--processes", "2"});
    EXPECT_FALSE(path_exists(out(place) / "shards"));
    EXPECT_TRUE(same_run(out(kind + "-single"), out(place)));
  }
}

}  // namespace
}  // namespace buoy::testing
