#include "buoy/shard/parent_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"

namespace buoy::shard {
namespace {

namespace fs = std::filesystem;

constexpr char kFormat[] = "buoy shards 1";
constexpr char kPartFormat[] = "buoy part 1";
constexpr int kMostShards = 100'000;

fs::path facts_file(const fs::path& out) {
  return shards_folder(out) / "shards.json";
}

Json to_json(const RunFacts& facts) {
  Json json = {{"format", kFormat},
               {"kind", facts.kind},
               {"shards", facts.shards},
               {"steal", facts.steal},
               {"command", facts.command},
               {"part_words", facts.part_words},
               {"resamples", facts.resamples},
               {"seed", facts.seed}};
  if (facts.array) json["array"] = {{"min", facts.array->min}, {"step", facts.array->step}};
  return json;
}

RunFacts parse_facts(const Json& json, const std::string& name) {
  const JsonObject object(json, name);
  if (object.required_text("format") != kFormat) object.fail("format", kFormat);
  RunFacts facts;
  facts.kind = object.required_text("kind");
  facts.shards = static_cast<int>(object.required_integer("shards", {1, kMostShards}));
  facts.steal = object.boolean("steal").value_or(false);
  facts.resamples = object.integer("resamples").value_or(0);
  facts.seed = static_cast<std::uint64_t>(object.integer("seed").value_or(0));
  const auto words = [&](const char* key) {
    std::vector<std::string> out;
    const Json* list = object.find(key);
    if (list == nullptr || !list->is_array()) return out;
    for (const auto& word : *list) {
      if (!word.is_string()) object.fail(key, "a list of words");
      out.push_back(word.get<std::string>());
    }
    return out;
  };
  facts.command = words("command");
  facts.part_words = words("part_words");
  if (const auto array = object.object("array"))
    facts.array = ArrayNumbers{array->required_integer("min", {0, INT64_MAX}),
                               array->required_integer("step", {1, INT64_MAX})};
  return facts;
}

// "0003-of-0032"
std::optional<Shard> parse_folder(const std::string& name) {
  int index = 0, count = 0, used = 0;
  if (std::sscanf(name.c_str(), "%d-of-%d%n", &index, &count, &used) != 2 ||
      static_cast<std::size_t>(used) != name.size() || index < 0 || count < 1)
    return std::nullopt;
  return Shard{index, count, 0, ""};
}

// A run in parts begins in a folder of its own: what is there without parts is of another run.
void require_own_folder(const fs::path& out, const RunFacts& facts) {
  std::string other;
  std::error_code failure;
  for (fs::directory_iterator at(out, failure), end; !failure && at != end; at.increment(failure)) {
    const auto name = at->path().filename().string();
    if (name != kShardsFolder && name != "retrieved") other = name;
  }
  // Looked at behind the others: what a part has written since has shards.json before it.
  if (!other.empty() && facts.kind != "study" && !read_facts(out))
    throw_usage_error({out.string(), "an empty folder, or one with parts of this run", other});
}

}  // namespace

fs::path shards_folder(const fs::path& out) {
  return out / kShardsFolder;
}

fs::path part_folder(const fs::path& out, const Shard& shard) {
  return shards_folder(out) / shard.folder();
}

fs::path progress_folder(const fs::path& out) {
  return shards_folder(out) / "progress";
}

fs::path claims_folder(const fs::path& out) {
  return shards_folder(out) / "claims";
}

std::optional<RunFacts> read_facts(const fs::path& out) {
  const auto file = facts_file(out);
  if (!path_exists(file)) return std::nullopt;
  return parse_facts(read_json_file(file), file.string());
}

std::optional<Remembered> remembered(const fs::path& out) {
  const auto facts = read_facts(out);
  if (!facts) return std::nullopt;
  return Remembered{facts->shards, facts->array};
}

void begin_run(const fs::path& out, const RunFacts& facts) {
  require_own_folder(out, facts);
  make_folder(shards_folder(out));
  const auto file = facts_file(out);
  if (write_once(file, dump_json(to_json(facts), 1) + '\n')) return;
  const auto before = *read_facts(out);
  const auto refuse = [&](const char* field, const std::string& expected, const std::string& found) {
    throw_usage_error({file.string() + ": " + field,
                       expected + ", as the run began (another `out`, or "
                                  "remove the folder)",
                       found});
  };
  if (before.shards != facts.shards)
    refuse("shards", std::to_string(before.shards), std::to_string(facts.shards));
  if (before.kind != facts.kind) refuse("kind", before.kind, facts.kind);
  if (before.steal != facts.steal)
    refuse("steal", before.steal ? "true" : "false", facts.steal ? "true" : "false");
  if (before.resamples != facts.resamples)
    refuse("resamples", std::to_string(before.resamples), std::to_string(facts.resamples));
  if (before.seed != facts.seed) refuse("seed", std::to_string(before.seed), std::to_string(facts.seed));
}

std::vector<Part> parts_of(const fs::path& out) {
  std::vector<Part> parts;
  std::error_code failure;
  for (fs::directory_iterator at(shards_folder(out), failure), end; !failure && at != end;
       at.increment(failure)) {
    const auto shard = parse_folder(at->path().filename().string());
    if (shard && is_folder(at->path())) parts.push_back({*shard, at->path()});
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.folder < b.folder; });
  return parts;
}

void write_part_file(const fs::path& folder, const Shard& shard, bool steal) {
  const Json json = {{"format", kPartFormat}, {"shard", shard.index}, {"of", shard.count}, {"steal", steal}};
  write_file_atomically(folder / kPartFile, dump_json(json) + '\n');
}

Shard read_part_file(const fs::path& folder) {
  const auto file = folder / kPartFile;
  const Json json = read_json_file(file);
  const JsonObject object(json, file.string());
  if (object.required_text("format") != kPartFormat) object.fail("format", kPartFormat);
  Shard shard;
  shard.count = static_cast<int>(object.required_integer("of", {1, kMostShards}));
  shard.index = static_cast<int>(object.required_integer("shard", {0, shard.count - 1}));
  return shard;
}

std::string own_token() {
  static std::atomic<std::uint64_t> count = 0;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("{}-{}-{:x}{:x}", host.data(), ::getpid(), now, count++);
}

bool write_once(const fs::path& file, std::string_view bytes) {
  // What a process that is killed leaves lies among the parts, not in the folder of the run.
  const auto among_parts = file.parent_path() / kShardsFolder;
  const auto beside = ((is_folder(among_parts) ? among_parts : file.parent_path()) /
                       fmt::format("{}.{}.new", file.filename().string(), own_token()))
                          .string();
  const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) throw_io_error("create", beside, errno);
  int failure = 0;
  for (auto rest = bytes; !rest.empty() && failure == 0;) {
    const ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) failure = errno;
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (failure == 0 && ::fsync(fd) != 0) failure = errno;
  ::close(fd);
  bool made = false;
  if (failure == 0) {
    made = ::link(beside.c_str(), file.c_str()) == 0;
    if (!made && errno != EEXIST) failure = errno;
  }
  ::unlink(beside.c_str());
  if (failure != 0) throw_io_error("write", file.string(), failure);
  return made;
}

void write_plan(const fs::path& file, std::string_view bytes, const std::string& what) {
  if (write_once(file, bytes) || read_file(file) == bytes) return;
  throw_usage_error({file.string(), "as in the run that began in this folder", "another " + what});
}

std::string quoted(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) {
    const bool plain =
        !word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%") ==
            std::string::npos;
    if (!out.empty()) out += ' ';
    if (plain) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

std::string command_of_part(const RunFacts& facts, int shard) {
  auto words = facts.command;
  for (auto word : facts.part_words) {
    if (const auto at = word.find('%'); at != std::string::npos) word.replace(at, 1, std::to_string(shard));
    words.push_back(std::move(word));
  }
  return quoted(words);
}

std::optional<std::string> command_that_goes_on(const std::filesystem::path& folder) {
  auto here = std::filesystem::absolute(folder).lexically_normal();
  if (!here.has_filename()) here = here.parent_path();  // "parts/"
  if (read_facts(here)) return "buoy merge " + quoted({folder.string()});
  if (!path_exists(here / kPartFile)) return std::nullopt;
  const auto facts = read_facts(here.parent_path().parent_path());
  if (!facts) return std::nullopt;
  return command_of_part(*facts, read_part_file(here).index);
}

}  // namespace buoy::shard
