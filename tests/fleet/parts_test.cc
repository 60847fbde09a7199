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
  // Nobody needs the parts any more.
  fs::remove_all(out("parts") / "shards");
  EXPECT_EQ(run("parts", {"inspect", "run"}).out, run("single", {"inspect", "run"}).out);
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
  const auto unmerged = run("parts", {"inspect", "run"});
  EXPECT_EQ(unmerged.exit_code, 0) << unmerged.err;
  EXPECT_NE(unmerged.out.find("keeps        compact: what floating, drift, qk made of every sample"),
            std::string::npos)
      << unmerged.out;
  EXPECT_NE(unmerged.out.find("samples      7 of 7 done"), std::string::npos) << unmerged.out;
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
  auto other_model = trace();
  for (auto& word : other_model) {
    if (const auto at = word.find("planted-diffusion"); at != std::string::npos)
      word.replace(at, 17, "planted-autoregressive");
  }
  auto trace_seed = trace(), eval_seed = eval();
  for (auto* words : {&trace_seed, &eval_seed}) words->insert(words->end(), {"--seed", "5"});
  struct Case {
    std::vector<std::string> run, other;
    std::string difference;
  };
  const std::vector<Case> cases = {
      {trace(), trace_seed, "seed"}, {trace(), other_model, "--model"}, {eval(), eval_seed, "seed"}};
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const auto& [words, other, difference] = cases[n];
    const auto a = "a" + std::to_string(n), b = "b" + std::to_string(n);
    run_well(a, words, {"--shard", "0/2"});
    run_well(b, other, {"--shard", "1/2"});
    fs::copy(out(b) / "shards/0001-of-0002", out(a) / "shards/0001-of-0002", fs::copy_options::recursive);
    const auto refused = run(a, {"merge", "run"});
    EXPECT_EQ(refused.exit_code, 3) << n;
    EXPECT_NE(refused.err.find(difference), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("0001-of-0002"), std::string::npos) << refused.err;
    EXPECT_EQ(run(a, {"merge", "run"}).exit_code, 3) << n << ": it was refused before anything was joined";
  }
}

TEST_F(Parts, AJoinThatIsKilledIsDoneAgain) {
  for (const auto& words : {trace(), eval()}) kill_joins(words, 10);
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

// What a GPU does with another packing: a question that two parts answered, in other words.
TEST_F(Parts, AnswersThatDifferByPackingAreCountedOnAGpuAlone) {
  run_parts("t", eval(), 2);
  const auto first = out("t") / "shards/0000-of-0002/answers.jsonl",
             second = out("t") / "shards/0001-of-0002/answers.jsonl";
  std::string line = read_file(first);
  line.resize(line.find('\n') + 1);
  const std::string marker = "\"answer\":\"";
  ASSERT_NE(line.find(marker), std::string::npos);
  line.insert(line.find(marker) + marker.size(), "another word ");
  write_file_atomically(second, read_file(second) + line);
  const auto refused = run("t", {"merge", "run"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.err.find("once, or the same as in"), std::string::npos) << refused.err;
  // The same parts, as if a GPU had run them.
  for (const char* file : {"run.json", "shards/0000-of-0002/run.json", "shards/0001-of-0002/run.json"}) {
    std::string text = read_file(out("t") / file);
    const auto at = text.find("\"cpu\"");
    ASSERT_NE(at, std::string::npos) << text;
    write_file_atomically(out("t") / file, text.replace(at, 5, "\"cuda\""));
  }
  const auto merged = run("t", {"merge", "run"});
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_NE(merged.err.find("1 answer in two parts that packed other questions with them on a GPU, 1 with "
                            "another text"),
            std::string::npos)
      << merged.err;
  EXPECT_EQ(read_file(out("t") / "answers.jsonl").find("another word"), std::string::npos)
      << "the first part's answer is taken";
}

TEST_F(Parts, WhatDiffersFromAnotherRunIsCounted) {
  run_well("single", eval());
  run_parts("e", eval(), 2);
  const auto equal = run("e", {"merge", "run", "--compare", "../single/run"});
  ASSERT_EQ(equal.exit_code, 0) << equal.err;
  EXPECT_NE(equal.out.find("compared with ../single/run: 28 answers, none differs"), std::string::npos)
      << equal.out;
  std::string answers = read_file(out("single") / "answers.jsonl");
  const std::string marker = "\"answer\":\"";
  answers.insert(answers.find(marker) + marker.size(), "x");
  write_file_atomically(out("single") / "answers.jsonl", answers);
  const auto other = run("e", {"merge", "run", "--compare", "../single/run"});
  EXPECT_NE(other.out.find("28 answers, 1 differs, 1 of them in the text ("), std::string::npos) << other.out;

  run_well("t", trace());
  run_well("seeds", trace(), {"--temperature", "20"});
  run_parts("parts", trace(), 2);
  const auto trace_equal = run("parts", {"merge", "run", "--compare", "../t/run"});
  EXPECT_NE(trace_equal.out.find("7 samples, none differs"), std::string::npos) << trace_equal.out;
  const auto ids = run("parts", {"merge", "run", "--compare", "../seeds/run"});
  EXPECT_NE(ids.out.find("7 samples, 7 differ, "), std::string::npos) << ids.out;
  EXPECT_NE(ids.out.find(" ids ("), std::string::npos) << ids.out;
  const auto wrong = run("parts", {"merge", "run", "--compare", "../single/run"});
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_NE(wrong.err.find("expected a trace, found an evaluation"), std::string::npos) << wrong.err;
}

TEST_F(Parts, ReadersTakeAnswersInPartsAsTheyAre) {
  run_well("single", eval());
  run_parts("parts", eval(), 3);
  for (const std::string place : {"single", "parts"})
    run_well(place, {"report", "--eval", "run", "--resamples", "50", "--out", "report"});
  EXPECT_TRUE(same_run(scratch_ / "single/report", scratch_ / "parts/report"));
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

TEST_F(Parts, InspectSaysHowEachGoesOn) {
  for (const auto& words : {trace(), eval()}) {
    const std::string& place = words.front();
    EXPECT_EQ(run(place, words, {"--shard", "0/2"}, "BUOY_TEST_FAIL=0:2 ").exit_code, 4);
    for (const char* part : {"run/shards/0000-of-0002", "run/shards/0000-of-0002/"}) {
      const auto of_part = run(place, {"inspect", part});
      EXPECT_NE(of_part.out.find("--shard 0/2"), std::string::npos) << of_part.out;
      EXPECT_EQ(of_part.out.find("--resume"), std::string::npos) << of_part.out;
    }
    const auto of_all = run(place, {"inspect", "run"});
    EXPECT_NE(of_all.out.find("buoy merge run"), std::string::npos) << of_all.out;
    EXPECT_EQ(of_all.out.find("--resume"), std::string::npos) << of_all.out;
  }
}

// A part cannot know of the others; whoever joins them can.
TEST_F(Parts, WhereEverySampleFailsTheJoinFailsAsOneProcessDoes) {
  auto beyond = trace();
  beyond.insert(beyond.end(), {"--scale-keys", "9999=0"});  // a position that no row has
  const auto single = run("single", beyond);
  EXPECT_EQ(single.exit_code, 3);
  for (const char* shard : {"0/2", "1/2"}) run_well("parts", beyond, {"--shard", shard});
  const auto status = run("parts", {"status", "run"});
  EXPECT_NE(status.out.find("failed, the last: "), std::string::npos) << status.out;
  const auto joined = run("parts", {"merge", "run"});
  EXPECT_EQ(joined.exit_code, 3);
  EXPECT_NE(joined.err.find("every sample failed, the first with: "), std::string::npos) << joined.err;
  EXPECT_EQ(joined.err, single.err.substr(single.err.find("buoy: "))) << single.err;
  EXPECT_TRUE(same_run(out("single"), out("parts")));
  EXPECT_EQ(run("parts", {"merge", "run"}).exit_code, 3) << "joined before, and as empty as then";
  auto at_once = beyond;
  at_once.insert(at_once.end(), {"--processes", "2"});
  EXPECT_EQ(run("processes", at_once).exit_code, 3);
  EXPECT_TRUE(same_run(out("single"), out("processes")));
  EXPECT_FALSE(path_exists(out("processes") / "shards")) << "it is whole";
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
