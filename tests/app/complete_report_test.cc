// The bundled pair through every analysis, evaluation, claim and section: nothing may be lacking.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/analysis/core/all_tables.h"
#include "buoy/study/study.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

// Three tasks, traces of everything, and runs that give every table of an evaluation its rows.
std::string study_of_everything() {
  const auto models = pair_folder(true).parent_path().string();
  return "title = \"everything\"\n[models]\ndiffusion = \"" + models +
         "/pair-diffusion\"\nautoregressive = \"" + models +
         "/pair-autoregressive\"\n[decoding]\nmax_new_tokens = 4\n[prompt]\nwith_passages = \"" + models +
         "/pair.prompt\"\nclosed_book = \"" + models + "/pair-closed-book.prompt\"\nchat = \"never\"\n" +
         R"(
[[data]]
name = "unknown"
world = { people = "unknown", passages = 5, count = 6 }
[[data]]
name = "known"
world = { people = "asked", passages = 5, count = 2 }
[[data]]
name = "two-hop"
world = { people = "unknown", passages = 3, two_hop = true, count = 2, seed = 3 }
[[trace]]
name = "attention"
data = "unknown"
observe = "all,states"
groups = "regions"
[[trace]]
name = "recall"
data = "known"
observe = "received"
tasks_only = true
[[trace]]
name = "two-hop"
data = "two-hop"
observe = "received"
tasks_only = true
[[evaluate]]
name = "passages"
data = ["unknown", "known"]
closed_book = true
passages = 3
[[evaluate]]
name = "position"
data = "known"
sweep = "gold-position=1-5"
observe = "features"
[[evaluate]]
name = "columns"
data = "two-hop"
columns_from = "two-hop"
)";
}

// Tables that this report has not: what is only printed, what the library offers but no command asks for, and
// a list of failures, of which there are none.
bool in_reports(const TableSchema& table) {
  const std::set<std::string_view> others = {"overview", "retrieval_agreement", "eval_failures"};
  return table.producer().source != Source::kTerminal && !others.contains(table.name());
}

class CompleteReport : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!study::can_read_studies()) return;
    folder_ = new TempFolder;
    const auto file = folder_->write("everything.toml", study_of_everything());
    result_ = run_buoy({"study", file, "--out", *folder_ / "out"});
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  void SetUp() override {
    if (folder_ == nullptr) GTEST_SKIP() << "built without toml++";
    ASSERT_EQ(result_.exit_code, 0) << result_.err;
  }

  static std::filesystem::path file_of(const std::string& table) {
    return *folder_ / "out/report/tables" / (table + ".json");
  }

  static inline TempFolder* folder_ = nullptr;
  static inline ProgramResult result_;
};

TEST_F(CompleteReport, HasEveryDeclaredTableWithItsColumnsAndRows) {
  std::set<std::string> declared;
  for (const auto* table : schema::all_tables()) {
    if (!in_reports(*table)) continue;
    const std::string name(table->name());
    declared.insert(name + ".json");
    ASSERT_TRUE(path_exists(file_of(name))) << name;
    const Json json = read_json_file(file_of(name));
    std::vector<std::string> columns, expected;
    for (const auto& column : json["columns"]) columns.push_back(column["name"]);
    for (const auto* column : table->columns()) expected.emplace_back(column->name());
    if (columns.size() == expected.size() + 1) expected.insert(expected.begin(), "trace");
    EXPECT_EQ(columns, expected) << name;
    EXPECT_FALSE(json["rows"].empty()) << name;

    std::vector<size_t> axes;
    if (columns.size() > table->columns().size()) axes.push_back(0);
    for (size_t i = 0; i < table->columns().size(); ++i) {
      if (table->columns()[i]->role() == Role::kAxis)
        axes.push_back(i + columns.size() - table->columns().size());
    }
    std::set<std::string> seen;
    for (const auto& row : json["rows"]) {
      Json key = Json::array();
      for (const size_t axis : axes) key.push_back(row.at(axis));
      EXPECT_TRUE(seen.insert(key.dump()).second) << name << ": axes do not tell rows apart: " << key.dump();
      if (HasFailure()) break;
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(*folder_ / "out/report/tables")) {
    if (entry.path().extension() == ".json")
      EXPECT_TRUE(declared.contains(entry.path().filename().string())) << entry.path() << " is not declared";
  }
}

TEST_F(CompleteReport, TestsEveryClaimAndLacksNothing) {
  const Json claims = read_json_file(file_of("claims"));
  std::set<std::string> judged;
  for (const auto& row : claims["rows"]) {
    const std::string id = row[0], trace = row[1], verdict = row[2];
    const std::string needs = row[6].is_null() ? "" : row[6].get<std::string>();
    if (trace == "overall") {
      judged.insert(id);
      EXPECT_NE(verdict, "not testable with this data") << id << ": " << needs;
    }
    for (const char* lacking : {"table ", "column ", "a value ", "left out"})
      EXPECT_EQ(needs.find(lacking), std::string::npos) << id << ", " << trace << ": " << needs;
  }
  EXPECT_EQ(judged.size(), 10u);
}

TEST_F(CompleteReport, DrawsEverySectionAndLeavesNothingOut) {
  const std::string page = read_file(*folder_ / "out/report/report.html");
  std::set<std::string_view> producers;
  for (const auto* table : schema::all_tables()) {
    if (in_reports(*table) && table->producer().source != Source::kClaims)
      producers.insert(table->producer().name);
  }
  for (const auto name : producers)
    EXPECT_NE(page.find("<h2 id=\"" + std::string(name) + "\">"), std::string::npos) << name;
  EXPECT_EQ(producers.size(), 9u);
  EXPECT_EQ(result_.err.find("note: "), std::string::npos) << result_.err;
}

}  // namespace
}  // namespace buoy::testing
