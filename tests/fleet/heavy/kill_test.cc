// kill -9 of random parts at 50 random moments, each followed by going on: equal bytes every time. Heavy.

#include <fmt/format.h>

#include <chrono>
#include <random>

#include "fleet/fleet.h"

#include "buoy/base/file/files.h"

namespace buoy::testing {
namespace {

constexpr int kMoments = 50;

class KilledParts : public FleetTest {
 protected:
  // Both parts at once, in bash; `then` while they run as $p0 and $p1.
  ProgramResult run_both(const std::string& place, const std::vector<std::string>& words,
                         const std::string& steal, const std::string& then) {
    std::string text = "export BUOY_LEASE_SECONDS=0.5; ";
    for (const int shard : {0, 1})
      text +=
          fmt::format("{} --shard {}/2{} > log{} 2>&1 & p{}=$!; ", line(words), shard, steal, shard, shard);
    return shell(place, text + then);
  }
};

TEST_F(KilledParts, GoOnToTheSameBytes) {
  std::mt19937 random(22);
  const std::vector<std::vector<std::string>> kinds = {trace(), eval(), watch()};
  std::vector<double> takes;
  for (const auto& words : kinds) {
    run_well(words.front() + "-single", words);
    const auto began = std::chrono::steady_clock::now();
    ASSERT_EQ(run_both(words.front() + "-alone", words, "", "wait $p0 && wait $p1").exit_code, 0);
    takes.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  int draws = 0;
  for (int moment = 0; moment < kMoments;) {
    ASSERT_LT(++draws, 4 * kMoments) << "most were over before they could be killed";
    const auto kind = static_cast<std::size_t>(moment) % kinds.size();
    const auto& words = kinds[kind];
    const std::string steal = moment / 3 % 2 == 1 ? " --steal" : "";
    const std::string killed = words.front() + (steal.empty() ? "" : "-steal"), place = killed + "-on";
    // One of them or both. A run is killed three times.
    const auto victims = 1 + random() % 3;
    const auto seconds = std::uniform_real_distribution<double>(0, takes[kind])(random);
    if (moment / 6 % 3 == 0) std::filesystem::remove_all(out(killed));
    std::string kill = fmt::format("sleep {}; ", seconds), ended = "true";
    for (const int shard : {0, 1}) {
      if (((victims >> shard) & 1U) == 0) continue;
      kill += fmt::format("kill -9 $p{} 2> /dev/null; ", shard);
      ended += fmt::format(" && [ $c{} = 137 ]", shard);
    }
    const auto hit = run_both(killed, words, steal, kill + "wait $p0; c0=$?; wait $p1; c1=$?; " + ended);
    if (hit.exit_code != 0) {  // too late
      std::filesystem::remove_all(out(killed));
      continue;
    }
    ++moment;
    SCOPED_TRACE(
        fmt::format("moment {}, {}{}, {} killed after {} s", moment, words.front(), steal, victims, seconds));
    // Going on in a copy: what was killed is killed again.
    shell(killed, fmt::format("rm -rf ../{0}; mkdir ../{0}; cp -a run ../{0}/run", place));
    // A join of what is there is refused or right, never wrong.
    if (run(place, {"merge", "run"}).exit_code != 0) {
      ASSERT_EQ(run_both(place, words, steal, "wait $p0 && wait $p1").exit_code, 0)
          << read_file(scratch_ / place / "log0") << read_file(scratch_ / place / "log1");
      run_well(place, {"merge", "run"});
    }
    ASSERT_TRUE(same_run(out(words.front() + "-single"), out(place)));
  }
  fmt::print("{} moments of {} that were drawn hit a part that lived\n", kMoments, draws);
}

TEST_F(KilledParts, JoinsOfWatchedRunsAreDoneAgain) {
  kill_joins(watch(), 10);
}

}  // namespace
}  // namespace buoy::testing
