#include "buoy/study/published/published_values.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/result/schema/published.h"
#include "buoy/study/study.h"
#include "buoy/study/study_plan.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "support/written_table.h"

namespace buoy::study {
namespace {

using testing::fails_with;
using testing::TempFolder;

const std::filesystem::path kExperiments =
    std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / "studies" / "experiments";

const std::map<std::string, NetworkShape> kNetworks = {{"big", {"LLaDA", 32}}, {"small", {"LLaDA", 2}}};

PublishedValue value_of(const std::string& differs = "") {
  return {.paper = "A paper",
          .quantity = "a share",
          .condition = "in its setting",
          .unit = "percent",
          .text = "3.2",
          .network = "LLaDA-8B",
          .shape = {"LLaDA", 32},
          .differs = differs,
          .ours = OwnNumber{.table = "retrieval_summary",
                            .column = "value",
                            .where = {{"variant", "mass"}, {"statistic", "heads"}},
                            .scale = 100}};
}

Table own_table() {
  Table table = testing::written_table(
      "retrieval_summary", {"trace", "variant", "statistic", "value", "value_lower", "value_upper"});
  testing::add_cells(table, {"big", "mass", "heads", 0.25, 0.125, 0.5});
  testing::add_cells(table, {"small", "mass", "heads", 0.75, Cell(), Cell()});
  testing::add_cells(table, {"small", "mass", "others", 0.5, Cell(), Cell()});
  testing::add_cells(table, {"untrained-small", "mass", "heads", 0.125, Cell(), Cell()});
  return table;
}

std::vector<std::string> texts(const Table& table, const ColumnSchema& column) {
  std::vector<std::string> out;
  for (const auto& row : table.rows) out.push_back(text_of(row[table.column(column)]));
  return out;
}

TEST(PublishedValues, StandBesideTheNumberOfEachNetwork) {
  const auto& t = schema::published_values;
  const std::vector<Table> tables = {own_table()};
  const std::vector<PublishedValue> values = {value_of()};
  const Table table = published_table(values, tables, kNetworks);
  EXPECT_EQ(texts(table, t.measured_on), (std::vector<std::string>{"big", "small"}));
  EXPECT_EQ(texts(table, t.published), (std::vector<std::string>{"3.2", "3.2"}));
  EXPECT_EQ(texts(table, t.ours), (std::vector<std::string>{"25", "75"}));
  EXPECT_EQ(texts(table, t.ours.lower), (std::vector<std::string>{"12.5", ""}));
  EXPECT_EQ(texts(table, t.ours.upper), (std::vector<std::string>{"50", ""}));
  EXPECT_EQ(texts(table, t.comparable), (std::vector<std::string>{"yes", "not comparable"}));
  EXPECT_EQ(texts(table, t.reason)[0], "");
  EXPECT_EQ(texts(table, t.reason)[1], "another network (LLaDA, 2 layers; published: LLaDA, 32 layers)");
}

TEST(PublishedValues, WhatDiffersIsSaidOfThePublishedNetworkToo) {
  const auto& t = schema::published_values;
  const std::vector<Table> tables = {own_table()};
  std::vector<PublishedValue> values = {value_of("other questions")};
  EXPECT_EQ(texts(published_table(values, tables, kNetworks), t.reason),
            (std::vector<std::string>{
                "other questions",
                "another network (LLaDA, 2 layers; published: LLaDA, 32 layers); other questions"}));
  // A value of networks that are many, or any: what differs decides alone.
  values[0].shape = {};
  values[0].differs = "";
  EXPECT_EQ(texts(published_table(values, tables, kNetworks), t.comparable),
            (std::vector<std::string>{"yes", "yes"}));
}

TEST(PublishedValues, WhatIsNotMeasuredHereIsSaid) {
  const auto& t = schema::published_values;
  auto elsewhere = value_of(), none = value_of("a speed");
  elsewhere.ours->where["statistic"] = "nothing of that name";
  none.ours.reset();
  const std::vector<PublishedValue> values = {elsewhere, none};
  const std::vector<Table> tables = {own_table()};
  const Table table = published_table(values, tables, kNetworks);
  EXPECT_EQ(texts(table, t.measured_on), (std::vector<std::string>{"", ""}));
  EXPECT_EQ(texts(table, t.comparable), (std::vector<std::string>{"not comparable", "not comparable"}));
  EXPECT_EQ(texts(table, t.reason)[0], "this study does not measure it");
  EXPECT_EQ(texts(table, t.reason)[1], "this study does not measure it: a speed");
  EXPECT_EQ(published_table(values, {}, kNetworks).rows.size(), 2U);
}

TEST(PublishedValues, WhatIsNotDefinedHereIsSaid) {
  const auto& t = schema::published_values;
  Table own = own_table();
  own.rows[0][3] = own.rows[1][3] = Cell();
  const std::vector<Table> tables = {own};
  for (const bool mean : {false, true}) {
    std::vector<PublishedValue> values = {value_of()};
    values[0].ours->mean = mean;
    const Table table = published_table(values, tables, kNetworks);
    EXPECT_EQ(texts(table, t.measured_on), (std::vector<std::string>{"big", "small"}));
    EXPECT_EQ(texts(table, t.ours), (std::vector<std::string>{"", ""}));
    EXPECT_EQ(texts(table, t.comparable), (std::vector<std::string>{"not comparable", "not comparable"}));
    EXPECT_EQ(texts(table, t.reason)[0], "it has no value there");
  }
}

TEST(PublishedValues, SeveralRowsOfANetworkAreRefused) {
  auto value = value_of();
  value.ours->where.erase("statistic");
  const std::vector<PublishedValue> values = {value};
  const std::vector<Table> tables = {own_table()};
  EXPECT_TRUE(fails_with<InputError>([&] { published_table(values, tables, kNetworks); },
                                     {"a share", "one row of retrieval_summary", "several of small"}));
}

TEST(PublishedValues, TheMeanOfTheRowsOfEachNetwork) {
  auto value = value_of();
  value.ours->where.erase("statistic");
  value.ours->mean = true;
  const std::vector<PublishedValue> values = {value};
  const std::vector<Table> tables = {own_table()};
  const Table table = published_table(values, tables, kNetworks);
  const auto& t = schema::published_values;
  EXPECT_EQ(texts(table, t.measured_on), (std::vector<std::string>{"big", "small"}));
  EXPECT_EQ(texts(table, t.ours), (std::vector<std::string>{"25", "62.5"}));
  EXPECT_EQ(texts(table, t.ours.lower), (std::vector<std::string>{"", ""}));
}

TEST(PublishedValues, AreToldOnATerminal) {
  auto none = value_of("a speed");
  none.ours.reset();
  const std::vector<PublishedValue> values = {value_of(), none};
  const std::vector<Table> tables = {own_table()};
  EXPECT_EQ(describe_published(published_table(values, tables, kNetworks)),
            "A paper\n  a share (in its setting), LLaDA-8B: 3.2 percent\n"
            "    here, big: 25 [12.5, 50]: comparable\n"
            "    here, small: 75: not comparable, another network (LLaDA, 2 layers; published: LLaDA, 32 "
            "layers)\n"
            "    not comparable: this study does not measure it: a speed\n");
}

class PublishedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  }
  std::vector<PublishedValue> read(const std::string& text, const std::vector<std::string>& papers = {"p"}) {
    return read_published(folder_.write("published.toml", text), papers);
  }
  TempFolder folder_;
};

constexpr const char* kPaper =
    "[[paper]]\nkey = \"p\"\ncitation = \"A paper\"\n[[paper]]\nkey = \"q\"\n"
    "citation = \"Another\"\n";
constexpr const char* kValue =
    "[[value]]\npaper = \"p\"\nquantity = \"x\"\nvalue = \"1\"\nunit = \"points\"\ncondition = \"c\"\n"
    "differs = \"d\"\nnetwork = { name = \"N\", family = \"Llama\", layers = 32 }\n"
    "ours = { table = \"eval_scores\", column = \"mean\", scale = 100, where = { metric = \"f1\" } }\n";

TEST_F(PublishedFile, IsReadByPaper) {
  const std::string text =
      std::string(kPaper) + kValue + "[[value]]\npaper = \"q\"\nquantity = \"y\"\nvalue = \"2\"\n";
  const auto values = read(text);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].paper, "A paper");
  EXPECT_EQ(values[0].text, "1");
  EXPECT_EQ(values[0].shape.family, "Llama");
  EXPECT_EQ(values[0].shape.layers, 32);
  ASSERT_TRUE(values[0].ours);
  EXPECT_EQ(values[0].ours->scale, 100);
  EXPECT_EQ(values[0].ours->where.at("metric"), "f1");
  EXPECT_EQ(read(text, {"q", "p"}).size(), 2U);
  EXPECT_EQ(read(text, {"q", "p"})[0].quantity, "y");
}

TEST_F(PublishedFile, RefusesByLine) {
  const auto refused = [&](const std::string& text, std::initializer_list<std::string> parts,
                           const std::vector<std::string>& papers = {"p"}) {
    return fails_with<InputError>([&] { read(text, papers); }, parts);
  };
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = std::string(kPaper) + kValue;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_TRUE(refused(with("eval_scores", "eval_score"), {"published.toml:", "table", "\"eval_scores\"?"}));
  EXPECT_TRUE(refused(with("\"mean\"", "\"means\""), {"column", "\"mean\"?", "\"means\""}));
  EXPECT_TRUE(refused(with("{ metric", "{ metrics"), {"where", "\"metric\"?"}));
  EXPECT_TRUE(refused(with("quantity", "quantities"), {"published.toml:7", "quantity"}));
  EXPECT_TRUE(refused(with("value = \"1\"", "value = 1"), {"value", "text", "1"}));
  EXPECT_TRUE(refused(with(", layers = 32", ""), {"family and layers together"}));
  EXPECT_TRUE(refused(with("paper = \"p\"", "paper = \"r\""), {"paper", "\"r\""}));
  EXPECT_TRUE(refused(with("key = \"q\"", "key = \"p\""), {"key", "\"p\" twice"}));
  EXPECT_TRUE(refused(std::string(kPaper) + kValue, {"paper", "\"pp\""}, {"pp"}));
  EXPECT_TRUE(refused("[[paper]\n", {"published.toml:1", "TOML"}));
}

// Every published experiment, by its name.
std::map<std::string, std::filesystem::path> experiments() {
  std::map<std::string, std::filesystem::path> out = {{"sinks", kExperiments / ".." / "sinks.toml"}};
  for (const auto& entry : std::filesystem::directory_iterator(kExperiments)) {
    if (entry.path().extension() == ".toml" && entry.path().filename() != "published.toml")
      out[entry.path().stem().string()] = entry.path();
  }
  return out;
}

// Of the pages on them, the overview left out.
std::set<std::string> pages() {
  std::set<std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(kExperiments / ".." / ".." / "docs" / "experiments")) {
    if (entry.path().extension() == ".md" && entry.path().filename() != "README.md")
      out.insert(entry.path().stem().string());
  }
  return out;
}

// Every experiment names a file that is there, papers that it has, and tables that are declared; it has a
// page, which has a row for every value, and there are no pages of others.
TEST_F(PublishedFile, EveryExperimentStandsBesideItsPaper) {
  std::set<std::string> names;
  for (const auto& [name, file] : experiments()) {
    SCOPED_TRACE(name);
    names.insert(name);
    const StudyPlan plan(read_study(file));
    ASSERT_TRUE(plan.study().published);
    const auto values =
        read_published(plan.beside(plan.study().published->file), plan.study().published->papers);
    EXPECT_FALSE(values.empty());
    const std::string page = read_file(kExperiments / ".." / ".." / "docs" / "experiments" / (name + ".md"));
    for (const auto& value : values) {
      EXPECT_TRUE(value.ours || !value.differs.empty()) << value.quantity << ": why is it not measured?";
      EXPECT_FALSE(value.network.empty()) << value.quantity;
      EXPECT_NE(page.find(value.text), std::string::npos) << value.quantity << ": " << value.text;
    }
  }
  EXPECT_EQ(names, pages());
}

// No paper is written down that no experiment stands beside.
TEST_F(PublishedFile, EveryPaperHasAnExperiment) {
  std::set<std::string> used, written;
  for (const auto& [name, file] : experiments()) {
    const Study study = read_study(file);
    ASSERT_TRUE(study.published) << name;
    used.insert(study.published->papers.begin(), study.published->papers.end());
  }
  for (const auto& file :
       {kExperiments / "published.toml", kExperiments / ".." / "published" / "sinks.toml"}) {
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("key = \"")) written.insert(line.substr(7, line.size() - 8));
    }
  }
  EXPECT_EQ(used, written);
}

}  // namespace
}  // namespace buoy::study
