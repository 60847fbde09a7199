// A part that is slow and not dead: the others take what it has not begun, and it ends what it has.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>

#include "buoy/base/file/files.h"
#include "fleet/fleet.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

class Stragglers : public FleetTest {
 protected:
  Stragglers() { ask(24); }

  // An evaluation has four cells.
  static int all(const std::string& kind) { return kind == "eval" ? 96 : 24; }

  // Part 1 stands still behind its first sample while part 0 runs, until `enough` is true.
  void run_beside_one_that_stands(const std::string& place, const std::vector<std::string>& words,
                                  const std::string& lease, const std::string& enough) {
    const auto part = [&](int shard) {
      return fmt::format("BUOY_LEASE_SECONDS={} {} --shard {}/2 --steal > said{} 2>&1 & p{}=$!; ", lease,
                         line(words), shard, shard, shard);
    };
    const auto ran = shell(place, part(1) + until_a_sample("0001-of-0002") + "kill -STOP $p1; " + part(0) +
                                      "for i in $(seq 1000); do " + enough +
                                      " && break; sleep 0.02; done; \"" BUOY_PROGRAM
                                      "\" status run > status; kill -CONT $p1; wait $p0 && wait $p1");
    ASSERT_EQ(ran.exit_code, 0) << read_file(scratch_ / place / "said0")
                                << read_file(scratch_ / place / "said1");
  }

  // Samples or answers in the folder of a part.
  std::size_t held(const std::string& place, int shard) const {
    const auto folder = out(place) / fmt::format("shards/{:04}-of-0002", shard);
    if (path_exists(folder / "answers.jsonl")) {
      const auto text = read_file(folder / "answers.jsonl");
      return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    const auto files = fs::directory_iterator(folder / "samples");
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }
  std::size_t dealt(const std::string& place, int shard) const {
    const auto deal = nlohmann::json::parse(read_file(out(place) / "shards/deal.json"));
    const auto& of = deal.at("shard_of");
    return static_cast<std::size_t>(std::count(of.begin(), of.end(), shard));
  }
  // Samples that were taken over from one that seemed dead.
  std::size_t taken_over(const std::string& place) const {
    std::size_t count = 0;
    for (const auto& claim : fs::directory_iterator(out(place) / "shards/claims"))
      count += claim.path().extension() == ".2" ? 1 : 0;
    return count;
  }
};

TEST_F(Stragglers, KeepWhatTheyHaveInHandWhileTheyLive) {
  for (const auto& words : {trace(), eval()}) {
    const std::string& place = words.front();
    run_well(place + "-single", words);
    run_beside_one_that_stands(place, words, "600",
                               fmt::format("[ $(ls run/shards/claims/*.1 | wc -l) = {} ]", all(place)));
    const auto status = read_file(scratch_ / place / "status");
    EXPECT_NE(status.find("shard 1/2  running"), std::string::npos) << status;
    EXPECT_EQ(taken_over(place), 0U);
    EXPECT_GT(held(place, 0), dealt(place, 0)) << place;
    EXPECT_EQ(held(place, 0) + held(place, 1), static_cast<std::size_t>(all(place))) << place;
    run_well(place, {"merge", "run"});
    EXPECT_TRUE(same_run(out(place + "-single"), out(place))) << place;
  }
}

TEST_F(Stragglers, ThatSeemDeadAndEndTheirSampleHoldTheSameBytes) {
  for (const auto& words : {trace(), eval()}) {
    const std::string& place = words.front();
    run_well(place + "-single", words);
    // The other ends the whole run.
    run_beside_one_that_stands(place, words, "0.5", "! kill -0 $p0 2> /dev/null");
    EXPECT_GT(held(place, 0), dealt(place, 0)) << place;
    run_well(place, {"merge", "run"});
    EXPECT_TRUE(same_run(out(place + "-single"), out(place))) << place;
  }
}

}  // namespace
}  // namespace buoy::testing
