#include "buoy/checkpoint/hub_cache.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/nearest.h"
#include "buoy/base/utf8.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelPrefix = "models--";
constexpr char kMain[] = "main";
constexpr std::uintmax_t kLongestRef = 1 << 12;

struct ModelName {
  std::string id;
  std::string revision;  // "": not given
};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

bool is_hexadecimal(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// One part of an id or a revision: nothing that could lead out of the cache.
bool is_name_part(std::string_view part) {
  return !part.empty() && part.size() <= 96 && part.find_first_not_of('.') != std::string_view::npos &&
         std::all_of(part.begin(), part.end(), is_name_letter);
}

bool are_name_parts(const std::string& text, std::size_t most) {
  std::size_t count = 0;
  for (std::size_t at = 0; at <= text.size(); ++count) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    if (count == most || !is_name_part(std::string_view(text).substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

// Nothing when the text cannot be the name of a model on the hub.
std::optional<ModelName> parse_model_name(const std::string& text) {
  const std::size_t at = text.find('@');
  const ModelName name{text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)};
  if (!are_name_parts(name.id, 2) || name.id.find("--") != std::string::npos) return std::nullopt;
  if (at != std::string::npos && !are_name_parts(name.revision, 4)) return std::nullopt;
  return name;
}

std::string folder_of_id(std::string id) {
  if (const std::size_t slash = id.find('/'); slash != std::string::npos) id.replace(slash, 1, "--");
  return std::string(kModelPrefix) + id;
}

std::optional<std::string> id_of_folder(const std::string& name) {
  if (!name.starts_with(kModelPrefix) || name.size() == kModelPrefix.size()) return std::nullopt;
  std::string id = name.substr(kModelPrefix.size());
  if (const std::size_t dashes = id.find("--"); dashes != std::string::npos) id.replace(dashes, 2, "/");
  return id;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path home_folder() {
  return environment("HOME");
}

fs::path expanded(const std::string& path) {
  if (path == "~") return home_folder();
  return path.starts_with("~/") ? home_folder() / path.substr(2) : fs::path(path);
}

std::string list_of(std::vector<std::string> names) {
  constexpr std::size_t kMost = 12;
  if (names.empty()) return "none";
  const std::size_t count = names.size();
  if (count > kMost) names.resize(kMost);
  return replace_invalid_utf8(fmt::format("{}{}", fmt::join(names, ", "),
                                          count > kMost ? fmt::format(" and {} more", count - kMost) : ""));
}

// What the cache has, the nearest name first.
std::string describe_cache(const fs::path& cache, const std::string& id) {
  if (!path_exists(cache) || !is_folder(cache)) return fmt::format("no cache at {}", cache.string());
  std::vector<std::string> ids;
  for (const auto& name : names_in(cache)) {
    if (auto known = id_of_folder(name)) ids.push_back(*std::move(known));
  }
  if (ids.empty()) return fmt::format("no models in {}", cache.string());
  const auto first = std::find(ids.begin(), ids.end(), nearest(id, ids));
  if (first != ids.end()) std::rotate(ids.begin(), first, first + 1);
  return fmt::format("in {}: {}", cache.string(), list_of(ids));
}

// For messages: how many files of a repository are under way; "" when none is.
std::string unfinished_in(const fs::path& repository) {
  const auto names = names_in(repository / "blobs");
  const auto count = std::count_if(names.begin(), names.end(),
                                   [](const auto& name) { return name.ends_with(".incomplete"); });
  if (count == 0) return "";
  return fmt::format(" ({} unfinished download{} in {})", count, count == 1 ? "" : "s",
                     (repository / "blobs").string());
}

[[noreturn]] void refuse_revision(const std::string& where, const fs::path& repository,
                                  const std::string& expected) {
  throw_input_error(
      {where, expected,
       fmt::format("snapshots {}; branches and tags {}", list_of(names_in(repository / "snapshots")),
                   list_of(names_in(repository / "refs")))});
}

// The commit that a branch or a tag points to; nothing when there is no such one.
std::optional<std::string> commit_of_ref(const fs::path& repository, const std::string& revision) {
  const fs::path file = repository / "refs" / revision;
  if (!path_exists(file) || is_folder(file)) return std::nullopt;
  std::string commit = read_file(file, kLongestRef);
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r' || commit.back() == ' '))
    commit.pop_back();
  if (!is_hexadecimal(commit))
    throw_input_error({file.string(), "the commit of a snapshot", "something else"});
  return commit;
}

fs::path snapshot_of_commit(const std::string& where, const fs::path& repository, const std::string& prefix) {
  std::vector<std::string> found;
  for (const auto& name : names_in(repository / "snapshots")) {
    if (name.starts_with(prefix)) found.push_back(name);
  }
  if (found.size() != 1) refuse_revision(where, repository, "a branch, a tag or the beginning of one commit");
  return repository / "snapshots" / found.front();
}

// `revision` "" is main, or the only snapshot there is.
fs::path find_snapshot(const std::string& where, const fs::path& repository, const std::string& revision) {
  const auto commit = commit_of_ref(repository, revision.empty() ? kMain : revision);
  if (commit) {
    const fs::path snapshot = repository / "snapshots" / *commit;
    if (path_exists(snapshot)) return snapshot;
    throw_input_error({where, fmt::format("snapshot {} of the cache", *commit),
                       fmt::format("none: it was not downloaded{}", unfinished_in(repository))});
  }
  if (!revision.empty()) return snapshot_of_commit(where, repository, revision);
  const auto snapshots = names_in(repository / "snapshots");
  if (snapshots.size() == 1) return repository / "snapshots" / snapshots.front();
  if (snapshots.empty()) {
    throw_input_error({where, "a snapshot in " + repository.string(),
                       fmt::format("none: it was not downloaded{}", unfinished_in(repository))});
  }
  refuse_revision(where, repository, "the branch main, or @REVISION behind the id to choose a snapshot");
}

bool is_repository(const fs::path& folder) {
  return id_of_folder(folder.filename().string()).has_value() && path_exists(folder / "snapshots");
}

fs::path without_last_slash(const fs::path& folder) {
  const fs::path normal = fs::absolute(folder).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

std::optional<HubSnapshot> hub_snapshot_of(const fs::path& folder) {
  const fs::path snapshot = without_last_slash(folder), snapshots = snapshot.parent_path();
  if (snapshots.filename() != "snapshots" || !is_hexadecimal(snapshot.filename().string()))
    return std::nullopt;
  const auto id = id_of_folder(snapshots.parent_path().filename().string());
  if (!id) return std::nullopt;
  return HubSnapshot{*id, snapshot.filename().string()};
}

std::string model_name(const fs::path& folder) {
  const auto snapshot = hub_snapshot_of(folder);
  return snapshot ? snapshot->id : without_last_slash(folder).filename().string();
}

bool is_model_id(const std::string& name) {
  return parse_model_name(name).has_value();
}

fs::path hub_cache_folder() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto path = environment(name); !path.empty()) return expanded(path);
  }
  if (const auto path = environment("HF_HOME"); !path.empty()) return expanded(path) / "hub";
  const auto cache = environment("XDG_CACHE_HOME");
  return (cache.empty() ? home_folder() / ".cache" : expanded(cache)) / "huggingface" / "hub";
}

fs::path find_model(const std::string& name) {
  if (name.empty())
    throw_usage_error({"model", "a folder or an id such as GSAI-ML/LLaDA-8B-Instruct", "nothing"});
  if (path_exists(name)) {
    const fs::path folder = without_last_slash(name);
    return is_repository(folder) ? find_snapshot(name, folder, "") : fs::path(name);
  }
  const auto parsed = parse_model_name(name);
  if (!parsed) {
    throw_input_error({replace_invalid_utf8(name), "a folder, or an id such as GSAI-ML/LLaDA-8B-Instruct",
                       "nothing of that name"});
  }
  const fs::path cache = hub_cache_folder(), repository = cache / folder_of_id(parsed->id);
  if (!path_exists(repository)) {
    throw_input_error({name, "a folder, or a model in the Hugging Face cache (nothing is downloaded)",
                       describe_cache(cache, parsed->id)});
  }
  return find_snapshot(name, repository, parsed->revision);
}

std::string unfinished_downloads(const fs::path& folder) {
  if (!hub_snapshot_of(folder)) return "";
  return unfinished_in(without_last_slash(folder).parent_path().parent_path());
}

}  // namespace buoy
