// Every published experiment runs from its file to its page, with four questions of each part; with other
// networks the file needs no change.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/study/study.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

std::vector<std::filesystem::path> experiments() {
  const auto studies = std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / "studies";
  std::vector<std::filesystem::path> out = {studies / "sinks.toml"};
  for (const auto& entry : std::filesystem::directory_iterator(studies / "experiments")) {
    if (entry.path().extension() == ".toml" && entry.path().filename() != "published.toml")
      out.push_back(entry.path());
  }
  return out;
}

class Experiments : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Experiments, RunWithFourQuestions) {
  if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
  const TempFolder folder;
  const auto run =
      run_buoy({"study", GetParam().string(), "--limit", "4", "--out", (folder / "out").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("Beside published numbers\n"), std::string::npos) << run.out;
  const std::string page = read_file(folder / "out/report/report.html");
  EXPECT_NE(page.find("<h2 id=\"published\">"), std::string::npos);
  // Something of what was published was measured, and with other networks nothing is said to be comparable.
  const std::string table = read_file(folder / "out/report/tables/published_values.csv");
  EXPECT_NE(table.find(",not comparable,"), std::string::npos) << table;
  EXPECT_EQ(table.find(",yes,"), std::string::npos) << table;
  // A value that names a table (in quotes) has a network: its row is there.
  EXPECT_EQ(table.find(",,,,,\""), std::string::npos) << table;
  EXPECT_EQ(page.find("class=\"left-out\""), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, Experiments, ::testing::ValuesIn(experiments()), [](const auto& info) {
  std::string name = info.param.stem().string();
  std::erase(name, '-');
  return name;
});

// A network of two layers with random weights and the tokenizer of the natural pair.
std::filesystem::path stand_in(const std::filesystem::path& folder, Family family) {
  benchmark::write_random_checkpoint(folder, {family, 32, 2, 4, 2, 8, 48, 2048}, 1);
  const auto pair = std::filesystem::canonical(pair_folder(true).parent_path()) / "natural-diffusion";
  for (const char* file : {"tokenizer.json", "tokenizer_config.json"})
    std::filesystem::copy_file(pair / file, folder / file);
  return folder;
}

// One that traces, evaluates and switches heads off; one that has untrained networks beside them.
class OtherNetworks : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Experiments, OtherNetworks, ::testing::Values("retrieval-heads", "first-key-sinks"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(OtherNetworks, TakeThePlacesOfTheBundledOnes) {
  if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
  const TempFolder folder;
  const auto file = std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / "studies" / "experiments" /
                    (std::string(GetParam()) + ".toml");
  const auto run =
      run_buoy({"study", file.string(), "--limit", "2", "--out", (folder / "out").string(), "--model",
                "diffusion=" + stand_in(folder / "llada", Family::kLlada).string(), "--model",
                "autoregressive=" + stand_in(folder / "qwen3", Family::kQwen3).string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const auto& trace : std::filesystem::directory_iterator(folder / "out/traces"))
    EXPECT_EQ(read_json_file(trace.path() / "manifest.json").at("model").at("layers"), 2) << trace.path();
  const std::string page = read_file(folder / "out/report/report.html");
  EXPECT_NE(page.find("<h2 id=\"published\">"), std::string::npos);
  EXPECT_EQ(page.find("class=\"left-out\""), std::string::npos);
  // Their numbers stand beside the published ones, which are of other networks.
  const std::string table = read_file(folder / "out/report/tables/published_values.csv");
  for (const char* network : {",diffusion,", ",autoregressive,"})
    EXPECT_NE(table.find(network), std::string::npos) << table;
  EXPECT_EQ(table.find(",yes,"), std::string::npos) << table;
}

}  // namespace
}  // namespace buoy::testing
