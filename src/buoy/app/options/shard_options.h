#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "buoy/app/options/options.h"
#include "buoy/base/progress.h"
#include "buoy/run/parts/part.h"
#include "buoy/shard/parent_folder.h"
#include "buoy/shard/progress_file.h"

namespace buoy::app {

// --shard, --steal, --processes: which part of a run this process takes, or how many processes share it.
struct ShardOptions {
  std::string shard;
  bool steal = false;
  int processes = 0;
};
void add_shard_options(Command& command, ShardOptions& options);

// What a command says of itself when it may run in parts.
struct PartedCommand {
  std::string kind;  // as RunFacts
  std::filesystem::path out;
  std::int64_t resamples = 0;
  std::uint64_t seed = 0;
};

// Cards for processes of one machine: of "cuda:0,2" and "cuda:all"; none for other devices. UsageError for
// cards that are not there.
std::vector<std::string> cards_of(const std::string& device);
// Whether several processes are asked for: then the command is run_processes() (fleet.h).
bool wants_processes(const ShardOptions& options, const std::string& device);

// Which part this process takes: printed, and agreed on with the other processes in the folder of the run.
// Nothing for the whole run. The card is chosen by the local rank.
std::optional<run::Sharding> place_in_run(const ShardOptions& options, const PartedCommand& command);
// What parts, and several processes, say when they are interrupted: what is there is always taken up.
void say_how_parts_go_on(const PartedCommand& command);

// Progress of a part, or of a whole run: a line on stderr and, of a part, its file.
class RunProgress {
 public:
  RunProgress(const std::optional<run::Sharding>& sharding, std::string label);

  // Of the whole, or of the part: how many there are, and how many of them were there already.
  void begin(std::size_t samples, std::size_t before = 0, const std::string& stage = "");
  void step();
  void close();
  // Said in a part's file when the run ends well all the same.
  void failed(std::size_t samples, const std::string& last);

  // Runs it; a part's file says how it ended.
  void run(const std::function<void()>& work);

 private:
  std::string label_, failures_;
  std::optional<shard::ProgressFile> file_;
  std::optional<Progress> bar_;
};

}  // namespace buoy::app
