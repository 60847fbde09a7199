#include "buoy/shard/claims.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "buoy/base/environment_seconds.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/shard/parent_folder.h"

namespace buoy::shard {
namespace {

namespace fs = std::filesystem;

double seconds_of(const struct stat& status) {
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

void touch(const fs::path& file) {
  if (::utimensat(AT_FDCWD, file.c_str(), nullptr, 0) != 0 && errno != ENOENT)
    throw_io_error("touch", file.string(), errno);
}

struct ClaimName {
  std::size_t number = 0;
  int generation = 0;  // 0: done
};
std::optional<ClaimName> parse_claim(std::string_view name) {
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  ClaimName out;
  const auto whole = [](std::string_view text, auto& value) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && failure == std::errc() && end == text.data() + text.size();
  };
  if (!whole(name.substr(0, dot), out.number)) return std::nullopt;
  const auto rest = name.substr(dot + 1);
  if (rest == "done") return out;
  if (!whole(rest, out.generation) || out.generation < 1) return std::nullopt;
  return out;
}

}  // namespace

Claims::Claims(fs::path folder, int shard, double lease_seconds)
    : folder_(std::move(folder)),
      owner_(fmt::format("owner-{}-{}", shard, own_token())),
      lease_(lease_seconds) {
  make_folder(folder_);
  release_shard(folder_, shard);
  write_once(folder_ / owner_, "");
  list();
  beat_ = std::thread([this] { beat(); });
}

Claims::~Claims() {
  {
    const std::lock_guard lock(beating_);
    stopped_ = true;
  }
  stop_.notify_all();
  beat_.join();
  ::unlink((folder_ / owner_).c_str());
}

void Claims::beat() {
  std::unique_lock lock(beating_);
  const auto pause = std::chrono::duration<double>(lease_ / 4);
  while (!stop_.wait_for(lock, pause, [&] { return stopped_; })) {
    try {
      touch(folder_ / owner_);
    } catch (const IoError&) {  // others take the samples over
    }
  }
}

void Claims::list() {
  known_.clear();
  std::error_code failure;
  for (fs::directory_iterator at(folder_, failure), end; !failure && at != end; at.increment(failure)) {
    const auto claim = parse_claim(at->path().filename().string());
    if (!claim) continue;
    Known& known = known_[claim->number];
    known.generation = std::max(known.generation, claim->generation);
    known.done |= claim->generation == 0;
  }
  if (failure) throw_io_error("list", folder_.string(), failure.value());
}

void Claims::refresh() {
  const std::lock_guard lock(mutex_);
  list();
}

bool Claims::is_done(std::size_t number) {
  const std::lock_guard lock(mutex_);
  return known_[number].done;
}

bool Claims::lives(const std::string& owner) {
  struct stat theirs {
  }, own{};
  if (owner.find('/') != std::string::npos || ::stat((folder_ / owner).c_str(), &theirs) != 0) return false;
  touch(folder_ / owner_);  // what time it is there
  if (::stat((folder_ / owner_).c_str(), &own) != 0) return true;
  return seconds_of(own) - seconds_of(theirs) < lease_;
}

bool Claims::claim(std::size_t number) {
  const std::lock_guard lock(mutex_);
  Known& known = known_[number];
  if (known.done || path_exists(folder_ / fmt::format("{}.done", number))) {
    known.done = true;
    return false;
  }
  for (; known.generation > 0; ++known.generation) {
    // Those that were made since the folder was listed.
    if (!path_exists(folder_ / fmt::format("{}.{}", number, known.generation + 1))) break;
  }
  if (known.generation > 0 && lives(read_file(folder_ / fmt::format("{}.{}", number, known.generation))))
    return false;
  const bool ours = write_once(folder_ / fmt::format("{}.{}", number, known.generation + 1), owner_);
  ++known.generation;
  return ours;
}

void Claims::done(std::size_t number) {
  write_once(folder_ / fmt::format("{}.done", number), "");
  const std::lock_guard lock(mutex_);
  known_[number].done = true;
}

double Claims::lease_from_environment() {
  return environment_seconds("BUOY_LEASE_SECONDS", 60, 0.2, 86400);
}

void Claims::release_shard(const fs::path& folder, int shard) {
  const std::string owners = fmt::format("owner-{}-", shard);
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    if (at->path().filename().string().starts_with(owners)) ::unlink(at->path().c_str());
  }
}

}  // namespace buoy::shard
