// The bundled pair through every analysis, evaluation, claim and section: nothing may be lacking.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/analysis/core/all_tables.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/figure/draw/render.h"
#include "buoy/study/study.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

// Three tasks, traces of everything, and runs that give every table of an evaluation its rows.
std::string study_of_everything() {
  const auto models = pair_folder(true).parent_path().string();
  return "title = \"everything\"\n[models]\ndiffusion = \"" + models +
         "/natural-diffusion\"\nautoregressive = \"" + models +
         "/natural-autoregressive\"\n[decoding]\nmax_new_tokens = 4\n[prompt]\nwith_passages = \"" + models +
         "/natural.prompt\"\nclosed_book = \"" + models +
         "/natural-closed-book.prompt\"\nchat = \"never\"\n" +
         R"(
[[data]]
name = "unknown"
world = { version = 2, people = "unknown", passages = 5, count = 6 }
[[data]]
name = "known"
world = { version = 2, people = "asked", passages = 5, count = 2 }
[[data]]
name = "similar"
world = { version = 2, people = "unknown", passages = 3, task = "similar-names", count = 2, seed = 3 }
[[trace]]
name = "attention"
data = "unknown"
observe = "all,states,predictions"
groups = "regions"
[[trace]]
name = "recall"
data = "known"
observe = "received"
tasks_only = true
[[trace]]
name = "similar"
data = "similar"
observe = "received"
tasks_only = true
keep = "full"
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
data = "similar"
columns_from = "similar"
)";
}

// Tables that this report has not: what is only printed, what the library offers but no command asks for, and
// a list of failures, of which there are none, arms of several networks, routers, which these networks lack,
// haystacks, which were not asked, and what is made where somebody asks for it.
bool in_reports(const TableSchema& table) {
  const std::set<std::string_view> others = {"overview", "retrieval_agreement", "eval_failures",
                                             "claim_contrasts", "eval_haystack"};
  const std::set<std::string_view> asked_for = {"routing", "sinks",   "heads",    "steps",
                                                "kvdrift", "rollout", "published"};
  return table.producer().source != Source::kTerminal && !asked_for.contains(table.producer().name) &&
         !others.contains(table.name());
}

std::filesystem::path file_of(const std::filesystem::path& report, const std::string& table) {
  return report / "tables" / (table + ".json");
}

// Every declared table is there with its columns and rows, and its axes tell the rows apart.
void check_tables(const std::filesystem::path& report) {
  // Neither network decodes blocks.
  const std::set<std::string> of_blocks = {"drift_blocks", "drift_by_block_length",
                                           "absorption_by_block_length"};
  std::set<std::string> declared;
  for (const auto* table : schema::all_tables()) {
    if (!in_reports(*table)) continue;
    const std::string name(table->name());
    declared.insert(name + ".json");
    ASSERT_TRUE(path_exists(file_of(report, name))) << name;
    const Json json = read_json_file(file_of(report, name));
    std::vector<std::string> columns, expected;
    for (const auto& column : json["columns"]) columns.push_back(column["name"]);
    for (const auto* column : table->columns()) expected.emplace_back(column->name());
    if (columns.size() == expected.size() + 1) expected.insert(expected.begin(), "trace");
    EXPECT_EQ(columns, expected) << name;
    EXPECT_EQ(json["rows"].empty(), of_blocks.contains(name)) << name;

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
      if (::testing::Test::HasFailure()) break;
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(report / "tables")) {
    if (entry.path().extension() != ".json") continue;
    EXPECT_TRUE(declared.contains(entry.path().filename().string())) << entry.path() << " is not declared";
  }
}

void check_claims(const std::filesystem::path& report) {
  const Json claims = read_json_file(file_of(report, "claims"));
  std::set<std::string> judged;
  for (const auto& row : claims["rows"]) {
    const std::string id = row[0], trace = row[1], verdict = row[2];
    const std::string needs = row[6].is_null() ? "" : row[6].get<std::string>();
    if (trace == "overall") {
      judged.insert(id);
      const bool no_room = id == "C7" && needs.find("no room") != std::string::npos;  // few questions
      EXPECT_TRUE(verdict != "not testable with this data" || no_room) << id << ": " << needs;
      EXPECT_NE(row[8].get<std::string>().find("too few networks ("), std::string::npos) << id;
    }
    for (const char* lacking : {"table ", "column ", "a value ", "left out"})
      EXPECT_EQ(needs.find(lacking), std::string::npos) << id << ", " << trace << ": " << needs;
  }
  EXPECT_EQ(judged.size(), 10u);
}

void check_sections(const std::filesystem::path& report) {
  const std::string page = read_file(report / "report.html");
  std::set<std::string_view> producers;
  for (const auto* table : schema::all_tables()) {
    if (in_reports(*table) && table->producer().source != Source::kClaims)
      producers.insert(table->producer().name);
  }
  for (const auto name : producers)
    EXPECT_NE(page.find("<h2 id=\"" + std::string(name) + "\">"), std::string::npos) << name;
  EXPECT_EQ(producers.size(), 10u);
}

// Every figure has a title and says on how many samples or items it rests.
void check_figures(const std::filesystem::path& report) {
  size_t figures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(report / "figures")) {
    if (entry.path().extension() != ".svg") continue;
    ++figures;
    const std::string svg = read_file(entry.path());
    EXPECT_NE(svg.find("<title>"), std::string::npos) << entry.path();
    EXPECT_NE(svg.find("n = "), std::string::npos) << entry.path();
  }
  EXPECT_EQ(figures > 15, figure::can_render()) << figures;
}

// One test: the study takes most of the time.
TEST(CompleteReport, OfTheBundledPairLacksNothing) {
  if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
  const TempFolder folder;
  const auto file = folder.write("everything.toml", study_of_everything());
  const auto result = run_buoy({"study", file, "--out", folder / "out"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err.find("note: "), std::string::npos) << result.err;
  check_tables(folder / "out/report");
  check_claims(folder / "out/report");
  check_sections(folder / "out/report");
  check_figures(folder / "out/report");
}

}  // namespace
}  // namespace buoy::testing
