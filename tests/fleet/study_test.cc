// Studies in parts.

#include "buoy/base/file/files.h"
#include "fleet/fleet.h"
#include "support/golden.h"

namespace buoy::testing {
namespace {

class StudyParts : public FleetTest {
 protected:
  StudyParts() {
    const auto models = std::filesystem::absolute(data_folder() / "../../models").lexically_normal().string();
    write_file_atomically(
        scratch_ / "small.toml",
        "title = \"parts\"\nout = \"run\"\n[models]\ndiffusion = \"" + models +
            "/planted-diffusion\"\n[decoding]\nmax_new_tokens = 8\n[prompt]\nwith_passages = \"" + models +
            "/planted.prompt\"\n[[data]]\nname = \"q\"\nworld = { version = 1, people = "
            "\"unknown\", count = 6, passages = 3, seed = 5 }\n[[trace]]\nname = \"short\"\ndata = "
            "\"q\"\n[[evaluate]]\nname = \"heads\"\ndata = \"q\"\npassages = 3\nheads = { trace = "
            "\"short\", share = 0.1, controls = 1 }\n[[evaluate]]\nname = \"gain\"\ndata = "
            "\"q\"\npassages = 3\n[controls]\nuntrained = 0\n[report]\nanalyses = [\"floating\"]\n");
  }
  const std::vector<std::string> study_ = {"study", "../small.toml", "--device", "cpu", "--threads", "1"};
};

TEST_F(StudyParts, OfSeveralProcessesLeaveWhatOneLeaves) {
  run_well("single", study_);
  run_well("two", study_, {"--processes", "2"});
  EXPECT_TRUE(same_run(out("single"), out("two")));
}

TEST_F(StudyParts, ThatAreStartedOneBehindTheOtherSayWhenTheyMustBeStartedAgain) {
  run_well("single", study_);
  // The first needs a whole trace for heads, and nobody else runs.
  const auto first = shell("parts", "true");
  EXPECT_EQ(run("parts", study_, {"--shard", "0/2"}, "BUOY_WAIT_SECONDS=0.1 ").exit_code, 75);
  run_well("parts", study_, {"--shard", "1/2"});
  run_well("parts", study_, {"--shard", "0/2"});
  run_well("parts", {"merge", "run"});
  run_well("parts", study_);
  EXPECT_TRUE(same_run(out("single"), out("parts")));
}

TEST_F(StudyParts, AreWrittenAsSlurmJobs) {
  run_well("jobs", study_, {"--slurm", "--partition=gpu --gres=gpu:8", "--array-tasks", "4"});
  const auto folder = out("jobs") / "shards/slurm";
  const auto array = read_file(folder / "array.sh"), submit = read_file(folder / "submit.sh");
  EXPECT_NE(array.find("srun --ntasks=8 "), std::string::npos) << array;
  EXPECT_NE(array.find("study ../small.toml --device cpu --threads 1 --shard product"), std::string::npos)
      << array;
  EXPECT_NE(submit.find("--partition=gpu --gres=gpu:8 --array=0-3 --export=ALL,BUOY_LAST=0"),
            std::string::npos)
      << submit;
  EXPECT_NE(submit.find("--dependency=afterok:$array"), std::string::npos) << submit;
  EXPECT_NE(read_file(folder / "report.sh").find("merge \"$1\" && "), std::string::npos);
  EXPECT_EQ(shell("jobs", "sh -n run/shards/slurm/submit.sh && sh -n run/shards/slurm/array.sh").exit_code,
            0);
}

TEST_F(StudyParts, APlanSaysHowLongManyProcessesTake) {
  const auto said = run("plan", study_, {"--plan", "1,4", "--rates", "decoding=120,loading=10,report=5"});
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_NE(said.out.find("1 processes: 2 min 15 s (1.0 times as fast as one)"), std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find("4 processes: 51 s (2.6 times"), std::string::npos)
      << said.out;  // 2 of 6 and 5 of 18 samples
  EXPECT_NE(said.out.find("stops scaling at 64 processes"), std::string::npos) << said.out;
  EXPECT_EQ(run("plan", study_, {"--plan", "2"}).exit_code, 2) << "nothing was measured";
}

}  // namespace
}  // namespace buoy::testing
