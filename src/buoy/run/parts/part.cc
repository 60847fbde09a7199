#include "buoy/run/parts/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/interrupt.h"
#include "buoy/shard/deal.h"
#include "buoy/shard/parent_folder.h"

#include <nlohmann/json.hpp>

namespace buoy::run {

std::filesystem::path Sharding::folder() const {
  return shard::part_folder(out, shard);
}

Part::Part(const Sharding& sharding, const std::vector<std::uint64_t>& costs)
    : sharding_(sharding), shard_of_(shard::deal(costs, sharding.shard.count)) {
  shard::write_plan(shard::shards_folder(sharding.out) / "deal.json",
                    dump_json(Json{{"format", "buoy deal 1"}, {"shard_of", shard_of_}}) + '\n',
                    "deal of samples to shards (another model, decoding or data)");
}

std::size_t Part::own_count() const {
  return static_cast<std::size_t>(std::count(shard_of_.begin(), shard_of_.end(), sharding_.shard.index));
}

std::vector<std::size_t> Part::order() const {
  auto numbers = shard::part_of(shard_of_, sharding_.shard.index);
  if (!sharding_.steal) return numbers;
  // From the end: those whose turn comes last there.
  for (int behind = 1; behind < sharding_.shard.count; ++behind) {
    const auto others = shard::part_of(shard_of_, (sharding_.shard.index + behind) % sharding_.shard.count);
    numbers.insert(numbers.end(), others.rbegin(), others.rend());
  }
  return numbers;
}

void Part::opened() {
  shard::write_part_file(folder(), sharding_.shard, sharding_.steal);
  if (!sharding_.steal) return;
  claims_ = std::make_unique<shard::Claims>(shard::claims_folder(sharding_.out), sharding_.shard.index,
                                            shard::Claims::lease_from_environment());
}

bool Part::take(std::size_t number, bool again) {
  if (claims_ && !again && !claims_->claim(number)) return false;
  fail_as_asked(sharding_.shard);
  return true;
}

void Part::done(std::size_t number) {
  if (claims_) claims_->done(number);
}

std::vector<std::size_t> Part::left_over(const std::function<bool(std::size_t)>& of) {
  std::vector<std::size_t> left;
  if (!claims_) return left;
  claims_->refresh();
  for (std::size_t number = 0; number < shard_of_.size(); ++number) {
    if (of(number) && !claims_->is_done(number)) left.push_back(number);
  }
  if (!left.empty()) {
    stop_here();
    constexpr double kFirst = 0.1, kLongest = 5;  // seconds
    pause_ = left == waited_for_ ? std::min(2 * pause_, kLongest) : kFirst;
    waited_for_ = left;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_));
  }
  return left;
}

void fail_as_asked(const shard::Shard& shard) {
  static std::atomic<int> begun = 0;
  const char* asked = std::getenv("BUOY_TEST_FAIL");
  if (asked == nullptr) return;
  int who = -1, at = 0;
  if (std::sscanf(asked, "%d:%d", &who, &at) != 2 || who != shard.index || ++begun != at) return;
  if (std::string_view(asked).ends_with(":kill")) std::raise(SIGKILL);
  throw IoError(fmt::format("GPU: cannot run (a stand-in that fails at sample {})", at));
}

void require_no_parts(const std::filesystem::path& out, bool complete) {
  if (complete || out.empty()) return;
  const auto facts = shard::read_facts(out);
  if (!facts) return;
  throw_usage_error({out.string(), "a run in one part",
                     fmt::format("one in {} shards that are not joined (buoy merge {}, or `shard` I/{})",
                                 facts->shards, out.string(), facts->shards)});
}

}  // namespace buoy::run
