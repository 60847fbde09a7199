// `buoy study --check`: everything that is missing or wrong at once, and what every part will take.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/disk_space.h"
#include "buoy/base/file/files.h"
#include "buoy/study/study.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

class StudyCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
    // As in the repository: studies and models side by side.
    fs::create_directory(folder_ / "studies");
    fs::create_directory_symlink(fs::canonical(pair_folder(true).parent_path()), folder_ / "models");
  }

  fs::path write(const std::string& parts) {
    return folder_.write(
        "studies/s.toml",
        "[models]\ndiffusion = \"../models/planted-diffusion\"\n[decoding]\nmax_new_tokens = 4\n"
        "[prompt]\nwith_passages = \"../models/planted.prompt\"\n" +
            parts);
  }
  static std::string world(const std::string& settings) {
    return "[[data]]\nname = \"q\"\nworld = { " + settings + " }\n";
  }

  // Run in the folder with these options.
  ProgramResult study(const std::string& file, std::vector<std::string> more = {"--check"},
                      const std::string& prelude = "") {
    more.insert(more.begin(), {"study", file});
    return run_buoy(more, "cd '" + folder_.path().string() + "'; " + prelude);
  }

  TempFolder folder_;
};

TEST_F(StudyCheck, SaysEverythingThatIsWrongAtOnce) {
  folder_.write("bad.jsonl", "{\"question\": \"Q?\", \"answers\": [\"a\"]}\n{\"qestion\": \"Q?\"}\n");
  folder_.write(
      "studies/wrong.toml",
      "out = \"/\"\ntitel = \"t\"\n[models]\nnone = \"../models/nowhere\"\n"
      "[models.diffusion]\npath = \"../models/planted-diffusion\"\nalgorithm = \"sideways\"\n"
      "[decoding]\nmax_new_tokens = 4294967298\n[prompt]\nwith_passages = \"no.prompt\"\n"
      "[[data]]\nname = \"d\"\nfile = \"no.jsonl\"\n[[data]]\nname = \"bad\"\nfile = \"../bad.jsonl\"\n"
      "[[data]]\nname = \"w\"\nworld = { people = \"martians\" }\n"
      "[[trace]]\nname = \"t\"\ndata = \"d\"\nobserve = \"received,tops\"\npassages = 2\n"
      "gold_position = 3\nmodels = \"diffusion\"\n"
      "[[evaluate]]\nname = \"e\"\ndata = [\"bad\", \"dd\"]\nsweep = \"places=1\"\n"
      "[[evaluate]]\nname = \"h\"\ndata = \"d\"\nheads = { trace = \"t\", share = 7.0 }\n"
      "[[evaluate]]\nname = \"o\"\ndata = \"d\"\nsweep = \"order=random,upwards\"\n"
      "[[evaluate]]\nname = \"p\"\ndata = \"d\"\nsweep = \"prompt=shared-passages,none.prompt\"\n"
      "[report]\nanalyses = [\"nonsense\"]\n");
  const auto checked = study("studies/wrong.toml");
  EXPECT_EQ(checked.exit_code, 3) << checked.err;
  for (const char* said : {"problems",
                           "out: \"/\"",
                           "wrong.toml:2: titel",
                           "models.none",
                           "models/nowhere",
                           "\"sideways\"",
                           "decoding.max_new_tokens",
                           "4294967298",
                           "no.prompt",
                           "no.jsonl",
                           "bad.jsonl:2",
                           "martians",
                           "\"tops\"",
                           "1 to 2",
                           "evaluate e: data",
                           "\"dd\"",
                           "\"places\"",
                           "heads.share",
                           "a trace of none",
                           "\"upwards\"",
                           "none.prompt",
                           "nonsense"})
    EXPECT_NE(checked.err.find(said), std::string::npos) << said << " is not in\n" << checked.err;
}

TEST_F(StudyCheck, PathsAreRelativeToTheFileOfTheStudy) {
  write(world("passages = 2, count = 3") + "[[trace]]\nname = \"t\"\ndata = \"q\"\n");
  for (const char* from : {"", "cd studies; ", "cd /; "}) {
    const auto file = folder_ / "studies" / "s.toml";
    EXPECT_EQ(study(*from == '\0' ? "studies/s.toml" : file.string(), {"--check"}, from).exit_code, 0)
        << from;
  }
  // Those of older studies were relative to where the program ran: both are named.
  folder_.write("studies/old.toml",
                "[models]\nm = \"models/planted-diffusion\"\n" + world("count = 3") +
                    "[[trace]]\nname = \"t\"\ndata = \"q\"\nprompt = \"models/planted.prompt\"\n");
  const auto old = study("studies/old.toml");
  EXPECT_EQ(old.exit_code, 3);
  EXPECT_TRUE(holds_in_order(
      old.err, {"models.m", "studies/models/planted-diffusion", "relative to the study's file",
                "models/planted-diffusion in the working directory", "\"../models/planted-diffusion\"",
                "trace t: prompt", "\"../models/planted.prompt\""}));
}

TEST_F(StudyCheck, FindsModelsByTheirIdInTheCache) {
  const auto snapshot = folder_ / "hub/models--ORG--Pair/snapshots" / std::string(40, 'a');
  fs::create_directories(snapshot.parent_path());
  fs::create_directories(folder_ / "hub/models--ORG--Pair/refs");
  folder_.write("hub/models--ORG--Pair/refs/main", std::string(40, 'a'));
  fs::create_directory_symlink(fs::canonical(pair_folder(true)), snapshot);
  const auto with_model = [&](const std::string& name) {
    folder_.write("studies/hub.toml", "[models]\nm = \"" + name + "\"\n" + world("passages = 2, count = 3") +
                                          "[[trace]]\nname = \"t\"\ndata = \"q\"\n");
    return study("studies/hub.toml", {"--check"},
                 "export HF_HUB_CACHE='" + (folder_ / "hub").string() + "'; ");
  };
  EXPECT_EQ(with_model("ORG/Pair").exit_code, 0);
  const auto other = with_model("ORG/Pare");
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_TRUE(holds_in_order(other.err, {"models.m", "ORG/Pare", "ORG/Pair"}));
}

TEST_F(StudyCheck, RefusesFoldersThatCannotBeMeantForResults) {
  write(world("passages = 2, count = 3") + "[[trace]]\nname = \"t\"\ndata = \"q\"\n");
  folder_.write("file", "");
  for (const char* out : {"/", "..", ".", "file", "models", "//", "studies/.."}) {
    for (const bool check : {true, false}) {
      std::vector<std::string> options = {"--out", out};
      if (check) options.emplace_back("--check");
      const auto run = study("studies/s.toml", options);
      EXPECT_EQ(run.exit_code, 3) << out << run.err;
      EXPECT_TRUE(holds_in_order(run.err, {"out: ", "for the results alone"})) << out;
    }
  }
  EXPECT_EQ(study("studies/s.toml", {"--out", "new/folder", "--check"}).exit_code, 0);
}

// What --check says is what the run does.
TEST_F(StudyCheck, SaysWhatEveryPartTakes) {
  write(world("passages = 2, count = 5") +
        "[[trace]]\nname = \"t\"\ndata = \"q\"\nlimit = 3\nobserve = \"received,qk\"\nkeep = \"full\"\n"
        "[[trace]]\nname = \"u\"\ndata = \"q\"\nlimit = 3\nkeep = \"tables\"\n"
        "[[evaluate]]\nname = \"e\"\ndata = \"q\"\nclosed_book = true\npassages = 2\n"
        "[[evaluate]]\nname = \"s\"\ndata = \"q\"\nsweep = \"steps=1,2\"\n"
        "[report]\nanalyses = [\"floating\"]\n");
  const auto checked = study("studies/s.toml", {"--check", "--out", "out"});
  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  const auto row = [&](const std::string& name) {
    std::smatch found;
    const std::regex pattern(name + " +([0-9]+) +([0-9]+) +([0-9.]+) +([0-9.]+) ([KM]?i?B)");
    if (std::regex_search(checked.out, found, pattern))
      return std::vector<std::string>(found.begin(), found.end());
    ADD_FAILURE() << name << " is not in\n" << checked.out;
    return std::vector<std::string>(6);
  };
  EXPECT_EQ(row("trace t, diffusion")[1], "3");
  EXPECT_EQ(row("trace t, diffusion")[2], "15") << "four steps and the final row";
  EXPECT_EQ(row("evaluate e")[1], "10");
  EXPECT_EQ(row("evaluate e")[2], "40");
  EXPECT_EQ(row("evaluate s")[2], "15") << "one step for five, two for five";
  EXPECT_EQ(row("trace t, untrained-diffusion")[2], "15") << "no fewer than there are, below ten";
  EXPECT_EQ(row("trace t, untrained-diffusion")[3], row("trace t, diffusion")[3]) << "the same work";
  EXPECT_EQ(row("in all")[2], "115");
  EXPECT_TRUE(
      holds_in_order(checked.out, {"memory: diffusion: ", "of weights", "free", "disk: about", "free"}));

  const auto made = study("studies/s.toml", {"--out", "out"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto announced = [&](const std::string& name) {
    const auto said = row(name);
    return std::stod(said[4]) * (said[5] == "MiB" ? 1 << 20 : said[5] == "KiB" ? 1 << 10 : 1);
  };
  const auto written = [&](const char* name) {
    return static_cast<double>(bytes_in_folder(folder_ / "out" / "traces" / name));
  };
  EXPECT_NEAR(announced("trace t, diffusion") / written("t.diffusion"), 1, 0.02);
  // Sizes of states are guessed, rather too large.
  EXPECT_GE(announced("trace u, diffusion"), 0.9 * written("u.diffusion"));
  EXPECT_LE(announced("trace u, diffusion"), 1.6 * written("u.diffusion"));
  const auto again = study("studies/s.toml", {"--check", "--out", "out"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(StudyCheck, FindsTracesOfAnEarlierRunThatKeepSomethingElse) {
  const auto keep = [&](const std::string& level) {
    return write(world("passages = 2, count = 2") + "[[trace]]\nname = \"t\"\ndata = \"q\"\nkeep = \"" +
                 level + "\"\n[report]\nanalyses = [\"floating\"]\n");
  };
  keep("tables");
  ASSERT_EQ(study("studies/s.toml", {"--out", "out"}).exit_code, 0);
  EXPECT_EQ(study("studies/s.toml", {"--out", "out", "--check"}).exit_code, 0);
  keep("compact");
  const auto other = study("studies/s.toml", {"--out", "out", "--check"});
  EXPECT_EQ(other.exit_code, 3) << other.out;
  EXPECT_TRUE(holds_in_order(other.err, {"trace t, diffusion", "t.diffusion/manifest.json", "keep",
                                         "tables as in the trace", "found compact", "out"}));
  EXPECT_EQ(study("studies/s.toml", {"--out", "new", "--check"}).exit_code, 0);
}

TEST_F(StudyCheck, SumsWithAPartThatIsNotKnownSayIt) {
  folder_.write("studies/half.toml",
                "[models]\nm = \"../models/planted-diffusion\"\nnone = \"../models/nowhere\"\n"
                "[decoding]\nmax_new_tokens = 4\n" +
                    world("passages = 2, count = 4") + "[[trace]]\nname = \"t\"\ndata = \"q\"\n");
  const auto checked = study("studies/half.toml");
  EXPECT_EQ(checked.exit_code, 3);
  EXPECT_TRUE(
      holds_in_order(checked.out, {"trace t, none", "not known", "in all", "at least", "iB", "at least",
                                   "at least", "at least", "disk: at least", "still to write"}))
      << checked.out;
}

TEST_F(StudyCheck, NeedsNoMoreThanAConfigForTheSizes) {
  fs::create_directory(folder_ / "bare");
  fs::copy_file(pair_folder(true) / "config.json", folder_ / "bare" / "config.json");
  folder_.write("studies/bare.toml", "[models]\nm = \"../bare\"\n" + world("passages = 2, count = 4") +
                                         "[[trace]]\nname = \"t\"\ndata = \"q\"\n");
  const auto checked = study("studies/bare.toml");
  EXPECT_EQ(checked.exit_code, 3);
  EXPECT_TRUE(holds_in_order(checked.err, {"models.m", "tokenizer", "models.m", "model.safetensors"}));
  EXPECT_TRUE(holds_in_order(checked.out, {"trace t, m", "4", "iB", "memory: m: ", "taken for BF16"}));
}

TEST_F(StudyCheck, RefusesWhatDoesNotFitOnTheDisk) {
  // Prompts that fit the model's context: what is too long fails and takes no room. 350 TiB of matrices.
  write(world("passages = 10, count = 1000000") +
        "[[trace]]\nname = \"t\"\ndata = \"q\"\nobserve = \"all,dense\"\n");
  for (const bool check : {true, false}) {
    std::vector<std::string> options = {"--out", "out"};
    if (check) options.emplace_back("--check");
    const auto run = study("studies/s.toml", options);
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_TRUE(holds_in_order(run.err, {"out", "will write about", "are free there", "--ignore-space"}));
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  }
  EXPECT_EQ(study("studies/s.toml", {"--out", "out", "--check", "--ignore-space"}).exit_code, 0);
}

// A disk that is full in the middle: what is there stays, nothing looks finished, and the study goes on.
TEST_F(StudyCheck, AFullDiskIsSaidAndTheStudyGoesOnLater) {
  write(world("passages = 2, count = 3") +
        "[[trace]]\nname = \"t\"\ndata = \"q\"\nobserve = \"received,qk\"\nkeep = \"full\"\n"
        "[[evaluate]]\nname = \"e\"\ndata = \"q\"\npassages = 2\n[report]\nanalyses = [\"floating\"]\n");
  const auto trace = folder_ / "out/traces/t.diffusion/manifest.json";
  const auto full = study("studies/s.toml", {"--out", "out"}, "trap '' XFSZ; ulimit -f 64; ");
  EXPECT_EQ(full.exit_code, 4) << full.err;
  EXPECT_TRUE(holds_in_order(full.err, {"out/traces/t.diffusion", "cannot write"}));
  EXPECT_FALSE(path_exists(folder_ / "out/report/report.html"));
  ASSERT_TRUE(path_exists(trace));
  const auto inspected = run_buoy({"inspect", (folder_ / "out/traces/t.diffusion").string()});
  EXPECT_NE(inspected.out.find("trace        "), std::string::npos) << inspected.out;
  EXPECT_EQ(inspected.out.find("trace        complete"), std::string::npos) << inspected.out;
  const auto later = study("studies/s.toml", {"--out", "out"});
  ASSERT_EQ(later.exit_code, 0) << later.err;
  EXPECT_TRUE(path_exists(folder_ / "out/report/report.html"));
}

}  // namespace
}  // namespace buoy::testing
