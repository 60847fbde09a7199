// Runs in parts: what is joined has the bytes of one process, and what does not belong together is refused.

#include "fleet/fleet.h"

#include "buoy/base/file/files.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

class Parts : public FleetTest {
 protected:
  void run_parts(const std::string& place, const std::vector<std::string>& words, int count) {
    for (int i = count - 1; i >= 0; --i)
      run_well(place, words, {"--shard", std::to_string(i) + "/" + std::to_string(count)});
  }
};

TEST_F(Parts, AJoinedTraceIsThatOfOneProcess) {
  run_well("single", trace());
  run_parts("parts", trace(), 3);
  const auto unmerged = run("parts", {"inspect", "run"});
  EXPECT_EQ(unmerged.exit_code, 0) << unmerged.err;
  EXPECT_NE(unmerged.out.find("7"), std::string::npos) << unmerged.out;
  run_well("parts", {"merge", "run"});
  EXPECT_TRUE(same_run(out("single"), out("parts")));
  const auto again = run("parts", {"merge", "run"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("joined before"), std::string::npos) << again.out;
  EXPECT_TRUE(same_run(out("single"), out("parts")));
}

TEST_F(Parts, AJoinedEvaluationIsThatOfOneProcess) {
  run_well("single", eval());
  run_parts("parts", eval(), 4);
  run_well("parts", {"merge", "run"});
  EXPECT_TRUE(same_run(out("single"), out("parts")));
}

TEST_F(Parts, AJoinedWatchedRunIsThatOfOneProcess) {
  run_well("single", watch());
  run_parts("parts", watch(), 3);
  run_well("parts", {"merge", "run"});
  EXPECT_TRUE(same_run(out("single"), out("parts")));
}

TEST_F(Parts, ReadersTakeThePartsAsTheyAre) {
  auto full = trace();
  for (auto& word : full) {
    if (word == "received,entropy") word = "received";
  }
  run_well("single", full);
  run_parts("parts", full, 2);
  for (const std::string place : {"single", "parts"})
    run_well(place, {"analyze", "floating", "run", "--resamples", "50", "--out", "tables"});
  EXPECT_TRUE(same_run(scratch_ / "single/tables", scratch_ / "parts/tables"));
  for (const std::string place : {"single", "parts"}) {
    run_well(place, {"report", "run", "--resamples", "50", "--out", "report"});
    EXPECT_NE(shell(place, "\"" BUOY_PROGRAM "\" inspect run").out.find("11"), std::string::npos);
  }
  EXPECT_TRUE(same_run(scratch_ / "single/report", scratch_ / "parts/report"));
}

TEST_F(Parts, MoreShardsThanSamplesAreFine) {
  run_well("single", trace());
  run_parts("parts", trace(), 9);
  run_well("parts", {"merge", "run"});
  EXPECT_TRUE(same_run(out("single"), out("parts")));
}

TEST_F(Parts, WhatIsMissingIsNamedWithWhatRunsIt) {
  run_well("parts", trace(), {"--shard", "0/2"});
  const auto refused = run("parts", {"merge", "run"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.err.find("shard 1 of 2 ("), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--shard 1/2"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("trace --data ../q.jsonl"), std::string::npos) << refused.err;
  EXPECT_EQ(run("parts", trace()).exit_code, 2) << "in one part, where one in two began";
}

TEST_F(Parts, OtherSeedsModelsAndNumbersOfShardsAreRefusedByName) {
  run_well("t", trace(), {"--shard", "0/2"});
  const auto number = run("t", trace(), {"--shard", "1/3"});
  EXPECT_EQ(number.exit_code, 2);
  EXPECT_NE(number.err.find("expected one of 2 shards, as the run in the folder began, found 1/3"),
            std::string::npos)
      << number.err;
  const auto seed = run("t", trace(), {"--shard", "1/2", "--seed", "5"});
  EXPECT_NE(seed.exit_code, 0);
  EXPECT_NE(seed.err.find("seed"), std::string::npos) << seed.err;
  auto other = trace();
  for (auto& word : other) {
    if (const auto at = word.find("planted-diffusion"); at != std::string::npos)
      word.replace(at, 17, "planted-autoregressive");
  }
  const auto model = run("t", other, {"--shard", "1/2"});
  EXPECT_NE(model.exit_code, 0);
  EXPECT_NE(model.err.find("--model"), std::string::npos) << model.err;
  run_well("e", eval(), {"--shard", "0/2"});
  const auto eval_seed = run("e", eval(), {"--shard", "1/2", "--seed", "5"});
  EXPECT_NE(eval_seed.exit_code, 0);
  EXPECT_NE(eval_seed.err.find("seed"), std::string::npos) << eval_seed.err;
}

TEST_F(Parts, PartsOfAnotherRunAreRefusedWhenTheyAreJoined) {
  run_well("a", trace(), {"--shard", "0/2"});
  run_well("b", trace(), {"--shard", "1/2", "--seed", "5"});
  fs::copy(out("b") / "shards/0001-of-0002", out("a") / "shards/0001-of-0002", fs::copy_options::recursive);
  const auto refused = run("a", {"merge", "run"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.err.find("seed"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("0001-of-0002"), std::string::npos) << refused.err;
}

TEST_F(Parts, OnePartTwiceIsRefused) {
  for (const auto& words : {trace(), eval()}) {
    const std::string place = words.front();
    run_well(place, words, {"--shard", "0/2"});
    fs::copy(out(place) / "shards/0000-of-0002", out(place) / "shards/0001-of-0002",
             fs::copy_options::recursive);
    const auto refused = run(place, {"merge", "run"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("shard 0/2 again"), std::string::npos) << refused.err;
  }
}

TEST_F(Parts, VariablesDecideAndAreNamed) {
  const auto mine = run("t", trace(), {}, "RANK=1 WORLD_SIZE=2 ");
  ASSERT_EQ(mine.exit_code, 0) << mine.err;
  EXPECT_NE(mine.err.find("shard 1 of 2 (from 0), from RANK"), std::string::npos) << mine.err;
  EXPECT_TRUE(path_exists(out("t") / "shards/0001-of-0002/manifest.json"));
  const auto beyond = run("t", trace(), {}, "RANK=2 WORLD_SIZE=2 ");
  EXPECT_EQ(beyond.exit_code, 2);
  EXPECT_NE(beyond.err.find("RANK: expected less than WORLD_SIZE (2), found 2"), std::string::npos)
      << beyond.err;
  // An array task again, alone: still part 0 of the two.
  const auto again =
      run("t", trace(), {}, "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=1 ");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  run_well("t", {"merge", "run"});
}

TEST_F(Parts, StatusIsReadFromTheFoldersAlone) {
  run_well("t", trace(), {"--shard", "1/3"});
  const auto failed = run("t", trace(), {"--shard", "2/3"}, "BUOY_TEST_FAIL=2:1 ");
  EXPECT_EQ(failed.exit_code, 4) << failed.err;
  const auto status = run("t", {"status", "run"});
  ASSERT_EQ(status.exit_code, 0) << status.err;
  EXPECT_NE(status.out.find("shard 0/3  waiting"), std::string::npos) << status.out;
  EXPECT_NE(status.out.find("shard 1/3  done  3/3"), std::string::npos) << status.out;
  EXPECT_NE(status.out.find("shard 2/3  failed  0/2"), std::string::npos) << status.out;
  EXPECT_NE(status.out.find("GPU: cannot run"), std::string::npos) << status.out;
  EXPECT_NE(status.out.find("trace: 1 of 3 shards done"), std::string::npos) << status.out;
  EXPECT_EQ(run("t", {"status", "nowhere"}).exit_code, 3);
}

}  // namespace
}  // namespace buoy::testing
