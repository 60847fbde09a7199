#include "buoy/shard/progress_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/shard/parent_folder.h"

namespace buoy::shard {
namespace {

namespace fs = std::filesystem;

constexpr char kProgressFormat[] = "buoy progress 1";
constexpr auto kInterval = std::chrono::seconds(2);

fs::path file_of(const fs::path& out, int shard) {
  return progress_folder(out) / fmt::format("{:04}.json", shard);
}

double changed_at(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return 0;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

// What time it is on the disk; where nothing can be written there, on this machine.
double time_on_disk(const fs::path& folder) {
  const auto probe = folder / (own_token() + ".now");
  double now = 0;
  try {
    if (write_once(probe, "")) now = changed_at(probe);
    ::unlink(probe.c_str());
  } catch (const IoError&) {
  }
  if (now > 0) return now;
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

double PartProgress::rate() const {
  return seconds > 0 ? static_cast<double>(done - done_before) / seconds : 0;
}

double PartProgress::left() const {
  return rate() > 0 ? static_cast<double>(std::max<std::int64_t>(total - done, 0)) / rate() : 0;
}

ProgressFile::ProgressFile(const fs::path& out, const Shard& shard)
    : file_(file_of(out, shard.index)), started_(std::chrono::steady_clock::now()) {
  make_folder(progress_folder(out));
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  now_.host = host.data();
  now_.pid = ::getpid();
  now_.shard = shard.index;
  now_.state = "running";
  write();
}

void ProgressFile::stage(const std::string& text, std::int64_t total, std::int64_t done_before) {
  started_ = std::chrono::steady_clock::now();
  now_.stage = text;
  now_.total = total;
  now_.done = now_.done_before = done_before;
  write();
}

void ProgressFile::advance() {
  ++now_.done;
  if (std::chrono::steady_clock::now() - written_ >= kInterval) write();
}

void ProgressFile::end(const std::string& state, const std::string& error) {
  now_.state = state;
  now_.error = error;
  write();
}

void ProgressFile::write() {
  written_ = std::chrono::steady_clock::now();
  const Json json = {{"format", kProgressFormat},
                     {"shard", now_.shard},
                     {"state", now_.state},
                     {"stage", now_.stage},
                     {"done", now_.done},
                     {"total", now_.total},
                     {"done_before", now_.done_before},
                     {"seconds", std::chrono::duration<double>(written_ - started_).count()},
                     {"host", now_.host},
                     {"pid", now_.pid},
                     {"error", now_.error}};
  try {
    write_file_atomically(file_, dump_json(json) + '\n');
  } catch (const IoError&) {  // a lost file of progress ends no run
  }
}

std::vector<PartProgress> read_progress(const fs::path& out, int shards) {
  std::vector<PartProgress> all;
  const double now = time_on_disk(shards_folder(out));
  for (int shard = 0; shard < shards; ++shard) {
    PartProgress one;
    one.shard = shard;
    const auto file = file_of(out, shard);
    if (path_exists(file)) {
      const Json json = read_json_file(file);
      const JsonObject object(json, file.string());
      if (object.required_text("format") != kProgressFormat) object.fail("format", kProgressFormat);
      one.state = object.required_text("state");
      one.stage = object.text("stage").value_or("");
      one.done = object.integer("done").value_or(0);
      one.total = object.integer("total").value_or(0);
      one.done_before = object.integer("done_before").value_or(0);
      one.seconds = object.number("seconds").value_or(0);
      one.host = object.text("host").value_or("");
      one.pid = object.integer("pid").value_or(0);
      one.error = object.text("error").value_or("");
      one.age = std::max(0.0, now - changed_at(file));
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace buoy::shard
