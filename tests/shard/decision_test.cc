// Which part of a run a process takes, from the variables of whatever started it.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/shard/decision.h"

namespace buoy::shard {
namespace {

Variables array(const char* id, const char* min, const char* step, const char* count) {
  return {{"SLURM_ARRAY_TASK_ID", id},
          {"SLURM_ARRAY_TASK_MIN", min},
          {"SLURM_ARRAY_TASK_STEP", step},
          {"SLURM_ARRAY_TASK_COUNT", count}};
}
Variables with(Variables a, const Variables& b) {
  a.insert(b.begin(), b.end());
  return a;
}
std::string name(const std::optional<Shard>& shard) {
  return shard ? shard->name() + " " + shard->source : "whole";
}
std::string refusal(const std::string& asked, const Variables& variables,
                    const std::optional<Remembered>& remembered = std::nullopt) {
  try {
    const auto shard = decide(asked, variables, remembered);
    return "not refused: " + name(shard);
  } catch (const UsageError& error) {
    return error.what();
  }
}
const Variables kStep = {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}};
const Variables kOneTaskStep = {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}};

TEST(ShardDecision, TakesTheFirstSourceThatIsSet) {
  EXPECT_EQ(name(decide("", {})), "whole");
  EXPECT_EQ(name(decide("3/32", kStep)), "3/32 `shard`");
  EXPECT_EQ(name(decide("", with(array("3", "0", "1", "32"), {{"BUOY_SHARD", "1/4"}}))), "1/4 BUOY_SHARD");
  EXPECT_EQ(name(decide("", array("3", "0", "1", "32"))), "3/32 SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(name(decide("", array("10", "4", "2", "8"))), "3/8 SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(name(decide("", kStep)), "1/2 SLURM_PROCID");
  EXPECT_EQ(name(decide("", {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}})),
            "1/2 OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(name(decide("", {{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}})), "0/3 PMI_RANK");
  EXPECT_EQ(name(decide("", {{"RANK", "5"}, {"WORLD_SIZE", "8"}})), "5/8 RANK");
}

TEST(ShardDecision, WhatSaysNothingDecidesNothing) {
  EXPECT_EQ(name(decide("", {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}})), "whole")
      << "a job shell without srun";
  EXPECT_EQ(name(decide("", {{"WORLD_SIZE", "8"}})), "whole") << "inherited without a rank";
  EXPECT_EQ(name(decide("", kOneTaskStep)), "whole");
  EXPECT_EQ(name(decide("", array("3", "3", "1", "1"))), "whole") << "nothing is remembered";
  EXPECT_EQ(name(decide("none", kStep)), "whole");
  EXPECT_EQ(name(decide("", with(kStep, {{"BUOY_SHARD", "none"}}))), "whole");
}

TEST(ShardDecision, AnArrayTaskThatStartsAStepOfOneTaskIsOfTheArray) {
  EXPECT_EQ(name(decide("", with(array("3", "0", "1", "4"), kOneTaskStep))), "3/4 SLURM_ARRAY_TASK_ID");
}

TEST(ShardDecision, ATaskSubmittedAgainIsStillItsShard) {
  const Remembered began{32, ArrayNumbers{0, 1}};
  EXPECT_EQ(name(decide("", array("3", "3", "1", "1"), began)), "3/32 SLURM_ARRAY_TASK_ID (submitted again)");
  EXPECT_EQ(name(decide("", array("7", "7", "1", "1"), Remembered{4, ArrayNumbers{1, 2}})),
            "3/4 SLURM_ARRAY_TASK_ID (submitted again)");
  EXPECT_EQ(name(decide("", with(array("3", "3", "1", "2"), {{"BUOY_SHARDS", "32"}}), began)),
            "3/32 SLURM_ARRAY_TASK_ID (of BUOY_SHARDS)");
  EXPECT_EQ(refusal("", array("40", "40", "1", "1"), began),
            "SLURM_ARRAY_TASK_ID: expected one of 32 ids from 0 by 1, as the array began "
            "(SLURM_ARRAY_TASK_COUNT 1 tasks); some tasks again: BUOY_SHARDS=N says of how many, found 40");
}

TEST(ShardDecision, AnotherNumberOfShardsThanAtTheFirstStartIsRefused) {
  const Remembered began{32, ArrayNumbers{0, 1}};
  EXPECT_EQ(refusal("", array("3", "0", "1", "16"), began),
            "SLURM_ARRAY_TASK_ID: expected one of 32 shards, as the run in the folder began, found 3/16");
  EXPECT_EQ(refusal("3/16", {}, began),
            "`shard`: expected one of 32 shards, as the run in the folder began, found 3/16");
  EXPECT_EQ(name(decide("3/32", {}, began)), "3/32 `shard`");
}

TEST(ShardDecision, ContradictionsAreRefusedByName) {
  EXPECT_EQ(refusal("", {{"RANK", "8"}, {"WORLD_SIZE", "8"}}),
            "RANK: expected less than WORLD_SIZE (8), found 8");
  EXPECT_EQ(refusal("32/32", {}), "`shard`: I of 32/32: expected less than N (32), found 32");
  EXPECT_EQ(refusal("0/0", {}).substr(0, 35), "`shard`: expected I/N with N from 1");
  EXPECT_EQ(refusal("x", {}).substr(0, 17), "`shard`: expected");
  EXPECT_EQ(refusal("", {{"BUOY_SHARD", "3"}}),
            "BUOY_SHARD: expected I/N with I from 0, as in 3/32, found \"3\"");
  EXPECT_EQ(refusal("", {{"RANK", "1"}}),
            "WORLD_SIZE: expected a number, beside the other variables of its kind, found nothing");
  EXPECT_EQ(refusal("", {{"RANK", "-1"}, {"WORLD_SIZE", "2"}}),
            "RANK: expected a whole number, 0 or more, found \"-1\"");
  EXPECT_EQ(refusal("", with(kStep, {{"RANK", "9"}, {"WORLD_SIZE", "16"}})),
            "SLURM_PROCID and RANK: expected one of them, or both the same (`shard` I/N or `shard` SOURCE "
            "decides), found 1 of 2, 9 of 16");
  EXPECT_EQ(refusal("", array("7", "1", "2", "3")).substr(0, 29), "SLURM_ARRAY_TASK_ID: expected");
  EXPECT_EQ(refusal("torchrun", {}), "`shard` torchrun: expected RANK set, found not set");
}

TEST(ShardDecision, AnArrayWhoseTasksAreSeveralIsRefusedUnlessTheProductIsAskedFor) {
  const auto both = with(array("3", "0", "1", "4"), kStep);
  EXPECT_EQ(refusal("", both).substr(0, 74),
            "SLURM_ARRAY_TASK_ID and SLURM_PROCID: expected an array task of one task (");
  EXPECT_EQ(name(decide("product", both)), "7/8 SLURM_ARRAY_TASK_ID times SLURM_PROCID");
  EXPECT_EQ(name(decide("array", both)), "3/4 SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(name(decide("step", both)), "1/2 SLURM_PROCID");
  const auto again = with(array("3", "3", "1", "1"), kStep);
  EXPECT_EQ(name(decide("product", again, Remembered{8, ArrayNumbers{0, 1}})),
            "7/8 SLURM_ARRAY_TASK_ID (submitted again) times SLURM_PROCID");
}

TEST(ShardDecision, AStepOfMpirunsDaemonsIsNotASourceOfShards) {
  EXPECT_EQ(name(decide("", {{"SLURM_STEP_ID", "0"},
                             {"SLURM_PROCID", "1"},
                             {"SLURM_STEP_NUM_TASKS", "2"},
                             {"SLURM_STEP_NUM_NODES", "2"},
                             {"OMPI_COMM_WORLD_RANK", "5"},
                             {"OMPI_COMM_WORLD_SIZE", "6"}})),
            "5/6 OMPI_COMM_WORLD_RANK");
}

TEST(ShardDecision, TheCardComesFromTheLocalRank) {
  EXPECT_EQ(decide("", with(kStep, {{"SLURM_LOCALID", "1"}}))->local, 1);
  EXPECT_EQ(decide("0/8", {{"LOCAL_RANK", "3"}})->local, 3);
  EXPECT_EQ(decide("0/8", {{"MPI_LOCALRANKID", "3"}})->local, 3);
  const Variables mpirun = {
      {"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_SIZE", "6"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}};
  EXPECT_EQ(decide("", mpirun)->local, 2);
  EXPECT_EQ(
      decide("", with(mpirun, {{"SLURM_STEP_ID", "0"}, {"SLURM_LOCALID", "1"}, {"LOCAL_RANK", "3"}}))->local,
      2)
      << "tasks of mpirun inherit what its daemon is";
  EXPECT_EQ(decide("0/8", {{"SLURM_LOCALID", "3"}})->local, 0) << "no step";
}

}  // namespace
}  // namespace buoy::shard
