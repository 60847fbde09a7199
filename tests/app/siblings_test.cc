// `buoy report --siblings`: a pair seen among networks that were measured elsewhere.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/claims/siblings.h"
#include "buoy/figure/draw/render.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

class SiblingReport : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const bool masked_diffusion : {true, false})
      trace_pair(folder_ / (masked_diffusion ? "d" : "a"),
                 {masked_diffusion, 10, 2, {"--observe", "received"}});
  }

  ProgramResult report(const std::vector<std::string>& more) {
    std::vector<std::string> call = {"report",      folder_ / "d",  folder_ / "a", "--out",
                                     folder_ / "r", "--replicates", "20"};
    call.insert(call.end(), more.begin(), more.end());
    return run_buoy(call);
  }

  // As if the pair had been trained four times more, and the numbers came out a little apart.
  std::string siblings(const std::string& rules = "") {
    std::vector<claims::NetworkQuantity> out;
    for (const auto& stored : claims::read_quantities(folder_ / "r/tables/claim_quantities.csv")) {
      for (int seed = 2; seed <= 5; ++seed) {
        auto one = stored.quantity;
        one.network.name += "-" + std::to_string(seed);
        one.network.weights += std::to_string(seed);
        const double off = 1e-3 * (seed - 3.5);
        one.estimate.value += off, one.estimate.lower += off, one.estimate.upper += off;
        out.push_back(one);
      }
    }
    std::string csv = to_csv(claims::quantities_table(out));
    for (auto at = csv.find(claims::rules_hash()); !rules.empty() && at != std::string::npos;
         at = csv.find(claims::rules_hash()))
      csv.replace(at, claims::rules_hash().size(), rules);
    write_file_atomically(folder_ / "siblings.csv", csv);
    return folder_ / "siblings.csv";
  }

  std::string kinds(const std::string& claim) const {
    const Json claims = read_json_file(folder_ / "r/tables/claims.json");
    std::size_t column = 0;
    while (claims["columns"][column]["name"] != "kinds") ++column;
    for (const auto& row : claims["rows"]) {
      if (row[0] == claim && row[1] == "overall") return row[column].get<std::string>();
    }
    return "no claim " + claim;
  }

  TempFolder folder_;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(SiblingReport, CountsThoseWhoseRulesAndQuestionsAreTheSame) {
  ASSERT_EQ(report({}).exit_code, 0);
  EXPECT_EQ(kinds("C4"), "too few networks (1 per arm; from 5 on)");
  const auto made = report({"--siblings", siblings()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(holds(kinds("C4"), "(5 per arm; ")) << kinds("C4") << made.err;
  EXPECT_FALSE(holds(made.err, "do not count")) << made.err;
  EXPECT_EQ(path_exists(folder_ / "r/figures/networks_C4.svg"), figure::can_render()) << made.err;
  const auto own = claims::read_quantities(folder_ / "r/tables/claim_quantities.csv");
  for (const auto& one : own)
    EXPECT_FALSE(holds(one.quantity.network.name, "-2")) << "siblings are not measured here";
}

TEST_F(SiblingReport, SaysOnPageAndStderrWhatDiffers) {
  ASSERT_EQ(report({}).exit_code, 0);
  const auto made = report({"--siblings", siblings("0123456789abcdef")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(kinds("C4"), "too few networks (1 per arm; from 5 on)");
  for (const auto& text : {made.err, read_file(folder_ / "r/report.html")}) {
    EXPECT_TRUE(holds(text, "8 networks do not count on ")) << made.err;
    EXPECT_TRUE(holds(text, "the rules of verdicts differ (0123456789ab there")) << made.err;
  }
}

TEST_F(SiblingReport, RefusesAFileThatIsNoSuchTableBeforeAnyWork) {
  write_file_atomically(folder_ / "wrong.csv", "network,arm\na,b\n");
  const auto made = report({"--siblings", folder_ / "wrong.csv"});
  EXPECT_EQ(made.exit_code, 3);
  EXPECT_TRUE(holds(made.err, "wrong.csv:1: expected a column kind")) << made.err;
  EXPECT_FALSE(path_exists(folder_ / "r/report.html"));
}

}  // namespace
}  // namespace buoy::testing
