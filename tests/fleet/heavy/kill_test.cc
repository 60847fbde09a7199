// kill -9 of random parts at 50 random moments, then going on: equal bytes. Heavy.

#include <random>

#include "fleet/fleet.h"

#include "buoy/base/file/files.h"

namespace buoy::testing {
namespace {

class KilledParts : public FleetTest {};

TEST_F(KilledParts, GoOnToTheSameBytes) {
  std::mt19937 random(22);
  constexpr int kMoments = 25;  // of each of two kinds
  int alive = 0;
  for (const auto& words : {trace(), eval()}) {
    const std::string& kind = words.front();
    run_well(kind + "-single", words);
    std::string call = BUOY_PROGRAM;
    for (const auto& word : words) call += " '" + word + "'";
    const std::string place = kind + "-parts";
    for (int moment = 0; moment < kMoments; ++moment) {
      if (moment % 5 == 0) std::filesystem::remove_all(out(place));
      const std::string steal = moment / 5 % 2 == 1 ? " --steal" : "";
      const auto seconds = std::uniform_real_distribution<double>(0.0, 0.25)(random);
      const int victim = static_cast<int>(random() % 2);
      const auto killed =
          shell(place, "export BUOY_LEASE_SECONDS=0.5; " + call + " --shard 0/2" + steal +
                           " > log0 2>&1 & p0=$!; " + call + " --shard 1/2" + steal +
                           " > log1 2>&1 & p1=$!; sleep " + std::to_string(seconds) + "; kill -9 $p" +
                           std::to_string(victim) + " 2> /dev/null; wait $p0; wait $p1; wait $p" +
                           std::to_string(victim));
      alive += killed.exit_code == 137 ? 1 : 0;
      // A join of what is there is refused or right, never wrong.
      const auto early = run(place, {"merge", "run"});
      if (early.exit_code == 0) {
        EXPECT_TRUE(same_run(out(kind + "-single"), out(place)));
        std::filesystem::remove_all(out(place));
        continue;
      }
      if (moment % 5 != 4) continue;
      for (const char* shard : {"0/2", "1/2"})
        run_well(place, words,
                 steal.empty() ? std::vector<std::string>{"--shard", shard}
                               : std::vector<std::string>{"--shard", shard, "--steal"},
                 "BUOY_LEASE_SECONDS=0.5 ");
      run_well(place, {"merge", "run"});
      EXPECT_TRUE(same_run(out(kind + "-single"), out(place)));
    }
  }
  EXPECT_GT(alive, kMoments) << "most were over before they could be killed";
}

}  // namespace
}  // namespace buoy::testing
