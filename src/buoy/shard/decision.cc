#include "buoy/shard/decision.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "buoy/base/error.h"

namespace buoy::shard {
namespace {

constexpr int kMost = 100'000;  // shards of a run

constexpr std::array kNames = {"BUOY_SHARD",
                               "BUOY_SHARDS",
                               "SLURM_ARRAY_TASK_ID",
                               "SLURM_ARRAY_TASK_MIN",
                               "SLURM_ARRAY_TASK_STEP",
                               "SLURM_ARRAY_TASK_COUNT",
                               "SLURM_STEP_ID",
                               "SLURM_PROCID",
                               "SLURM_STEP_NUM_TASKS",
                               "SLURM_STEP_NUM_NODES",
                               "SLURM_LOCALID",
                               "OMPI_COMM_WORLD_RANK",
                               "OMPI_COMM_WORLD_SIZE",
                               "OMPI_COMM_WORLD_LOCAL_RANK",
                               "PMI_RANK",
                               "PMI_SIZE",
                               "MPI_LOCALRANKID",
                               "RANK",
                               "WORLD_SIZE",
                               "LOCAL_RANK"};

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, value);
  if (text.empty() || failure != std::errc() || stopped != end) return std::nullopt;
  return value;
}

class Environment {
 public:
  explicit Environment(const Variables& variables) : variables_(variables) {}

  bool has(const std::string& name) const {
    const auto found = variables_.find(name);
    return found != variables_.end() && !found->second.empty();
  }
  const std::string& text(const std::string& name) const { return variables_.at(name); }

  std::int64_t number(const std::string& name) const {
    if (!has(name)) throw_usage_error({name, "a number, beside the other variables of its kind", "nothing"});
    const auto value = whole_number(text(name));
    if (!value || *value < 0) throw_usage_error({name, "a whole number, 0 or more", '"' + text(name) + '"'});
    return *value;
  }

 private:
  const Variables& variables_;
};

void check_range(const std::string& rank_name, std::int64_t rank, const std::string& size_name,
                 std::int64_t size) {
  if (size < 1 || size > kMost)
    throw_usage_error({size_name, fmt::format("1 to {}", kMost), std::to_string(size)});
  if (rank >= size)
    throw_usage_error({rank_name, fmt::format("less than {} ({})", size_name, size), std::to_string(rank)});
}

// "3/32"
Shard parse_part(const std::string& where, const std::string& text) {
  const auto slash = text.find('/');
  const auto index = whole_number(text.substr(0, slash));
  const auto count = slash == std::string::npos ? std::nullopt : whole_number(text.substr(slash + 1));
  if (!index || !count || *index < 0)
    throw_usage_error({where, "I/N with I from 0, as in 3/32", '"' + text + '"'});
  if (*count < 1 || *count > kMost)
    throw_usage_error({where, fmt::format("I/N with N from 1 to {}, as in 3/32", kMost), '"' + text + '"'});
  check_range(where + ": I of " + text, *index, "N", *count);
  return {static_cast<int>(*index), static_cast<int>(*count), 0, where};
}

// Tasks that were started together: their number and which one this is.
struct Tasks {
  const char* kind;         // as `shard` names it
  const char *rank, *size;  // variables
};
constexpr std::array kKinds = {Tasks{"step", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                               Tasks{"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               Tasks{"pmi", "PMI_RANK", "PMI_SIZE"}, Tasks{"torchrun", "RANK", "WORLD_SIZE"}};

// Nothing where they are not set. A job shell without srun has a SLURM_PROCID, and a size that was inherited
// without a rank says nothing.
std::optional<Shard> read_tasks(const Tasks& tasks, const Environment& environment) {
  if (std::string_view(tasks.kind) == "step" && !environment.has("SLURM_STEP_ID")) return std::nullopt;
  if (!environment.has(tasks.rank)) return std::nullopt;
  const auto rank = environment.number(tasks.rank);
  const auto size = environment.number(tasks.size);
  check_range(tasks.rank, rank, tasks.size, size);
  return Shard{static_cast<int>(rank), static_cast<int>(size), 0, tasks.rank};
}

// mpirun inside a Slurm job starts one daemon of its own a node by a step, whose variables its tasks inherit.
bool is_step_of_mpirun(const Environment& environment) {
  return environment.has("OMPI_COMM_WORLD_RANK") && environment.has("SLURM_STEP_NUM_NODES") &&
         environment.has("SLURM_STEP_NUM_TASKS") &&
         environment.text("SLURM_STEP_NUM_NODES") == environment.text("SLURM_STEP_NUM_TASKS");
}

// The first kind that is set, of more than one task where there is one; the others must not say otherwise.
std::optional<Shard> decide_tasks(const Environment& environment) {
  std::vector<Shard> set;
  for (const auto& tasks : kKinds) {
    if (std::string_view(tasks.kind) == "step" && is_step_of_mpirun(environment)) continue;
    if (auto found = read_tasks(tasks, environment); found && found->count > 1) set.push_back(*found);
  }
  if (set.empty()) return std::nullopt;
  for (const auto& other : set) {
    if (other.index == set.front().index && other.count == set.front().count) continue;
    throw_usage_error(
        {fmt::format("{} and {}", set.front().source, other.source),
         "one of them, or both the same (`shard` I/N or `shard` SOURCE decides)",
         fmt::format("{} of {}, {} of {}", set.front().index, set.front().count, other.index, other.count)});
  }
  return set.front();
}

std::string of_array(const std::string& id, const ArrayNumbers& numbers, std::int64_t count) {
  return fmt::format("one of {} ids from {} by {}, as the array began ({} tasks)", count, numbers.min,
                     numbers.step, id);
}

std::optional<Shard> decide_array(const Environment& environment, const std::optional<Remembered>& remembered,
                                  int tasks) {
  if (!environment.has("SLURM_ARRAY_TASK_ID")) return std::nullopt;
  const auto id = environment.number("SLURM_ARRAY_TASK_ID");
  auto count = environment.number("SLURM_ARRAY_TASK_COUNT");
  ArrayNumbers numbers{
      environment.number("SLURM_ARRAY_TASK_MIN"),
      environment.has("SLURM_ARRAY_TASK_STEP") ? environment.number("SLURM_ARRAY_TASK_STEP") : 1};
  std::string source = "SLURM_ARRAY_TASK_ID";
  // Some tasks submitted again: the folder remembers of how many they are.
  std::int64_t whole = remembered ? remembered->count / tasks : 0;
  if (environment.has("BUOY_SHARDS")) {
    whole = environment.number("BUOY_SHARDS");
    check_range("BUOY_SHARDS", 0, "BUOY_SHARDS", whole);
    if (remembered && remembered->count != whole * tasks)
      throw_usage_error({"BUOY_SHARDS", fmt::format("{}, as the run began", remembered->count / tasks),
                         std::to_string(whole)});
  }
  if (whole > 0 && whole != count && (count == 1 || environment.has("BUOY_SHARDS"))) {
    numbers = remembered && remembered->array ? *remembered->array : ArrayNumbers{};
    count = whole;
    source += environment.has("BUOY_SHARDS") ? " (of BUOY_SHARDS)" : " (submitted again)";
  }
  if (numbers.step < 1) throw_usage_error({"SLURM_ARRAY_TASK_STEP", "1 or more", "0"});
  const auto from = id - numbers.min;
  if (from < 0 || from % numbers.step != 0 || from / numbers.step >= count) {
    throw_usage_error(
        {"SLURM_ARRAY_TASK_ID",
         of_array(fmt::format("SLURM_ARRAY_TASK_COUNT {}", environment.text("SLURM_ARRAY_TASK_COUNT")),
                  numbers, count) +
             "; some tasks again: BUOY_SHARDS=N says of how many",
         std::to_string(id)});
  }
  check_range("SLURM_ARRAY_TASK_ID", from / numbers.step, "SLURM_ARRAY_TASK_COUNT", count);
  Shard shard{static_cast<int>(from / numbers.step), static_cast<int>(count), 0, source};
  shard.array = numbers;
  return shard;
}

int local_rank(const Environment& environment) {
  if (environment.has("OMPI_COMM_WORLD_LOCAL_RANK"))
    return static_cast<int>(environment.number("OMPI_COMM_WORLD_LOCAL_RANK"));
  if (environment.has("SLURM_STEP_ID") && environment.has("SLURM_LOCALID"))
    return static_cast<int>(environment.number("SLURM_LOCALID"));
  for (const char* name : {"MPI_LOCALRANKID", "LOCAL_RANK"}) {
    if (environment.has(name)) return static_cast<int>(environment.number(name));
  }
  return 0;
}

std::optional<Shard> decide_all(const std::string& asked, const Environment& environment,
                                const std::optional<Remembered>& remembered) {
  if (asked == "none") return std::nullopt;
  if (asked.find('/') != std::string::npos) return parse_part("`shard`", asked);
  for (const auto& tasks : kKinds) {
    if (asked != tasks.kind) continue;
    const auto found = read_tasks(tasks, environment);
    if (!found)
      throw_usage_error({fmt::format("`shard` {}", asked), fmt::format("{} set", tasks.rank), "not set"});
    return found;
  }
  const bool product = asked == "product", only_array = asked == "array";
  if (!asked.empty() && !product && !only_array)
    throw_usage_error(
        {"`shard`", "I/N, array, step, openmpi, pmi, torchrun, product or none", '"' + asked + '"'});
  if (asked.empty() && environment.has("BUOY_SHARD")) {
    if (environment.text("BUOY_SHARD") == "none") return std::nullopt;
    return parse_part("BUOY_SHARD", environment.text("BUOY_SHARD"));
  }
  const auto tasks = only_array ? std::nullopt : decide_tasks(environment);
  const auto array = decide_array(environment, remembered, product && tasks ? tasks->count : 1);
  if ((only_array || product) && !array)
    throw_usage_error({fmt::format("`shard` {}", asked), "SLURM_ARRAY_TASK_ID set", "not set"});
  if (!array) return tasks;
  if (!tasks) return array->count > 1 || remembered ? array : std::nullopt;
  if (!product) {
    throw_usage_error({fmt::format("SLURM_ARRAY_TASK_ID and {}", tasks->source),
                       "an array task of one task (`shard` product: shards are array times tasks; `shard` "
                       "array or `shard` I/N decides)",
                       fmt::format("task {} of {} in an array", tasks->index, tasks->count)});
  }
  Shard shard = *array;
  shard.tasks = tasks->count;
  shard.index = array->index * tasks->count + tasks->index;
  check_range("shards", 0, "array times tasks", std::int64_t{array->count} * tasks->count);
  shard.count = array->count * tasks->count;
  shard.source = fmt::format("{} times {}", array->source, tasks->source);
  return shard;
}

}  // namespace

Variables own_variables() {
  Variables out;
  for (const char* name : kNames) {
    if (const char* value = std::getenv(name)) out[name] = value;
  }
  return out;
}

std::string Shard::name() const {
  return fmt::format("{}/{}", index, count);
}

std::string Shard::folder() const {
  return fmt::format("{:04}-of-{:04}", index, count);
}

std::optional<Shard> decide(const std::string& asked, const Variables& variables,
                            const std::optional<Remembered>& remembered) {
  const Environment environment(variables);
  auto shard = decide_all(asked, environment, remembered);
  if (!shard) return shard;
  shard->local = local_rank(environment);
  if (remembered && remembered->count != shard->count) {
    throw_usage_error({shard->source,
                       fmt::format("one of {} shards, as the run in the folder began", remembered->count),
                       shard->name()});
  }
  return shard;
}

std::string describe(const Shard& shard) {
  return fmt::format("shard {} of {} (from 0), from {}", shard.index, shard.count, shard.source);
}

}  // namespace buoy::shard
