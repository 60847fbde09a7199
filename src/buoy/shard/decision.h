#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace buoy::shard {

// Variables of a process by name. A function of a map can be tried without a cluster.
using Variables = std::map<std::string, std::string>;
// Those of this process that say anything about shards.
Variables own_variables();

// How the tasks of an array are numbered: MIN, MIN + STEP, ...
struct ArrayNumbers {
  std::int64_t min = 0, step = 1;
  bool operator==(const ArrayNumbers&) const = default;
};

// One part of a run: `index` of `count`, from 0.
struct Shard {
  int index = 0, count = 1;
  int local = 0;       // which process of its machine: chooses the card
  std::string source;  // who decided: "`shard`", "SLURM_ARRAY_TASK_ID", ...
  std::optional<ArrayNumbers> array = {};
  int tasks = 1;  // of every array task, where shards are the product of both

  std::string name() const;    // "3/32", as `shard` takes it
  std::string folder() const;  // "0003-of-0032"
};

// What earlier starts wrote into the folder of the run.
struct Remembered {
  int count = 0;
  std::optional<ArrayNumbers> array = {};
};

// Which part of a run this process takes; nothing for the whole. `asked` is "I/N", the name of a
// source (array, step, openmpi, pmi, torchrun), "product" (of an array and the tasks in each), "none", or ""
// for the first of BUOY_SHARD, Slurm array, Slurm step, OpenMPI, PMI, torchrun that is set. UsageError names
// what contradicts what.
std::optional<Shard> decide(const std::string& asked, const Variables& variables,
                            const std::optional<Remembered>& remembered = std::nullopt);

// "shard 3 of 32, from SLURM_ARRAY_TASK_ID": for people, printed at every start.
std::string describe(const Shard& shard);

}  // namespace buoy::shard
