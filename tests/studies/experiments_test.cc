// Every published experiment runs from its file to its page, with four questions of each part.

#include <gtest/gtest.h>

#include "app/program.h"
#include "buoy/base/file/files.h"
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

}  // namespace
}  // namespace buoy::testing
