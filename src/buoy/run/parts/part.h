#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "buoy/shard/claims.h"
#include "buoy/shard/decision.h"

namespace buoy::run {

// A run in parts, and which part this process takes.
struct Sharding {
  std::filesystem::path out;  // of the whole run (shard/parent_folder.h)
  shard::Shard shard;
  bool steal = false;

  std::filesystem::path folder() const;  // of the part
};

// The samples of a run that this process takes: its own part, and with `steal` those of others that nobody
// has.
class Part {
 public:
  // By what each sample of the run is expected to cost: every process must find the same.
  Part(const Sharding& sharding, const std::vector<std::uint64_t>& costs);

  bool steals() const { return sharding_.steal; }
  std::filesystem::path folder() const { return sharding_.folder(); }
  bool owns(std::size_t number) const { return shard_of_[number] == sharding_.shard.index; }
  std::size_t own_count() const;
  // Those that may be taken, own ones first, then those of the shards behind this one; without `steal` own
  // ones alone.
  std::vector<std::size_t> order() const;

  // When the folder of the part is locked: says in it which part it is.
  void opened();
  // Whether a sample is ours to run. `again`: it was ours before.
  bool take(std::size_t number, bool again = false);
  void done(std::size_t number);
  // Samples that nobody has ended, because who took them died; waits while those who live are at work. None
  // where nothing is stolen, or nothing is left. `of` limits it to some numbers.
  std::vector<std::size_t> left_over(const std::function<bool(std::size_t)>& of);

 private:
  Sharding sharding_;
  std::vector<int> shard_of_;
  std::unique_ptr<shard::Claims> claims_;
  std::vector<std::size_t> waited_for_;
  double pause_ = 0;
};

// A test stands in for a card that fails: BUOY_TEST_FAIL="SHARD:K" makes this process, where it is that
// shard, fail as a card does when it begins its K-th sample (from 1); "SHARD:K:kill" kills it.
void fail_as_asked(const shard::Shard& shard);

// Refuses a run in one part where one in several began and was not joined.
void require_no_parts(const std::filesystem::path& out, bool complete);

}  // namespace buoy::run
