// Samples that are claimed by files: each goes to one claimer, those of a dead one to another.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "buoy/base/file/files.h"
#include "buoy/shard/claims.h"
#include "support/temp_folder.h"

namespace buoy::shard {
namespace {

using testing::TempFolder;

TEST(Claims, EachSampleGoesToOneOfManyClaimers) {
  const TempFolder scratch;
  constexpr std::size_t kSamples = 60;
  std::vector<std::atomic<int>> taken(kSamples);
  std::vector<std::thread> threads;
  for (int shard = 0; shard < 6; ++shard) {
    threads.emplace_back([&, shard] {
      Claims claims(scratch / "claims", shard, 60);
      for (std::size_t n = 0; n < kSamples; ++n) {
        if (!claims.claim(n)) continue;
        ++taken[n];
        claims.done(n);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t n = 0; n < kSamples; ++n) EXPECT_EQ(taken[n], 1) << n;
}

TEST(Claims, WhatADeadClaimerHadIsTakenOver) {
  const TempFolder scratch;
  Claims other(scratch / "claims", 1, 60);
  {
    Claims first(scratch / "claims", 0, 60);
    EXPECT_TRUE(first.claim(0));
    EXPECT_TRUE(first.claim(1));
    first.done(1);
    EXPECT_FALSE(other.claim(0)) << "its claimer lives";
  }
  EXPECT_TRUE(other.claim(0));
  EXPECT_FALSE(other.claim(1)) << "done";
  other.refresh();
  EXPECT_TRUE(other.is_done(1));
  EXPECT_FALSE(other.is_done(0));
}

TEST(Claims, ALeaseThatRanOutFreesWhatItHeld) {
  const TempFolder scratch;
  make_folder(scratch / "claims");
  write_file_atomically(scratch / "claims/owner-0-elsewhere", "");
  write_file_atomically(scratch / "claims/5.1", "owner-0-elsewhere");
  Claims other(scratch / "claims", 1, 0.4);
  EXPECT_FALSE(other.claim(5)) << "nobody knows yet that it died";
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  EXPECT_TRUE(other.claim(5));
}

TEST(Claims, AShardThatStartsAgainFreesWhatItHad) {
  const TempFolder scratch;
  make_folder(scratch / "claims");
  write_file_atomically(scratch / "claims/owner-3-elsewhere", "");
  write_file_atomically(scratch / "claims/5.1", "owner-3-elsewhere");
  Claims other(scratch / "claims", 1, 60);
  EXPECT_FALSE(other.claim(5));
  Claims again(scratch / "claims", 3, 60);
  EXPECT_TRUE(again.claim(5));
}

}  // namespace
}  // namespace buoy::shard
