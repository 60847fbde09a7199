#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/shard/decision.h"

namespace buoy::shard {

// The folder of a run in parts. Beside what a run leaves there is `shards/` in it:
//   shards.json      how many parts, what of, which command
//   plan.json ...    what the whole run is; every part compares its own with it
//   0003-of-0032/    a part: a trace or an evaluation of its own
//   progress/        how far each part is
//   claims/          where samples are stolen: who has which sample
inline constexpr char kShardsFolder[] = "shards";
inline constexpr char kPartFile[] = "part.json";

struct RunFacts {
  std::string kind;  // "trace", "watch", "eval", "study"
  int shards = 0;
  std::optional<ArrayNumbers> array = {};
  std::vector<std::string> command = {};     // words that run the whole
  std::vector<std::string> part_words = {};  // behind them, to run one part: "%" is its number
  bool steal = false;
  std::int64_t resamples = 0;  // of tables that are made when the parts are joined
  std::uint64_t seed = 0;      // likewise
};

std::filesystem::path shards_folder(const std::filesystem::path& out);
std::filesystem::path part_folder(const std::filesystem::path& out, const Shard& shard);
std::filesystem::path progress_folder(const std::filesystem::path& out);
std::filesystem::path claims_folder(const std::filesystem::path& out);

// Nothing where there is no run in parts. InputErrors name file and field.
std::optional<RunFacts> read_facts(const std::filesystem::path& out);
std::optional<Remembered> remembered(const std::filesystem::path& out);

// The first start writes what the parts are; a later one that says otherwise is refused by name.
void begin_run(const std::filesystem::path& out, const RunFacts& facts);

// Parts that are there, by name; other folders below shards/ that look like one.
struct Part {
  Shard shard;  // index and count, as the name of the folder says
  std::filesystem::path folder;
};
std::vector<Part> parts_of(const std::filesystem::path& out);

// part.json: which part a folder holds. InputErrors name the file.
void write_part_file(const std::filesystem::path& folder, const Shard& shard, bool steal);
Shard read_part_file(const std::filesystem::path& folder);

// Makes a file with these bytes unless there is one, in one step for everybody who sees the folder (link(2):
// network file systems too). False where there is one.
bool write_once(const std::filesystem::path& file, std::string_view bytes);
// The same, and what is there must be the same: otherwise UsageError "file: expected as in the run that
// began, found another `what`".
void write_plan(const std::filesystem::path& file, std::string_view bytes, const std::string& what);

// "host-pid-number", another at every call, of any machine.
std::string own_token();

// Words as a shell reads them.
std::string quoted(const std::vector<std::string>& words);
// What runs one part.
std::string command_of_part(const RunFacts& facts, int shard);
// What goes on with an unfinished run in parts: of the folder of a part, and of that of the whole. Nothing
// for other folders.
std::optional<std::string> command_that_goes_on(const std::filesystem::path& folder);

}  // namespace buoy::shard
