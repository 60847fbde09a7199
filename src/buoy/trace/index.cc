#include "buoy/trace/index.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/sha256.h"
#include "buoy/trace/journal.h"
#include "buoy/trace/manifest_json.h"
#include "buoy/trace/parts/parts.h"
#include "buoy/trace/tree_sum.h"

namespace buoy::trace {
namespace {

// Files whose checksum was compared and right: a report reads every sample many times.
class VerifiedFiles {
 public:
  // Device, inode, size, time of the last change of contents and of the inode, and the sum.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t, std::string>;

  static VerifiedFiles& of_process() {
    static VerifiedFiles files;
    return files;
  }
  static Key key_of(const std::filesystem::path& path, const std::string& sum) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) throw_io_error("inspect", path.string(), errno);
    const auto nanoseconds = [](const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; };
    return {status.st_dev,
            status.st_ino,
            status.st_size,
            nanoseconds(status.st_mtim),
            nanoseconds(status.st_ctim),
            sum};
  }

  bool contains(const Key& key) {
    const std::lock_guard lock(mutex_);
    return keys_.contains(key);
  }
  void add(const Key& key) {
    constexpr size_t kMost = 1 << 16;
    const std::lock_guard lock(mutex_);
    if (keys_.size() >= kMost) keys_.clear();
    keys_.insert(key);
  }

 private:
  std::mutex mutex_;
  std::set<Key> keys_;
};

// In pieces that are let go again, so that a large sample is not held in memory.
std::string sum_of(const MappedFile& file) {
  constexpr size_t kPiece = size_t{1} << 24;
  Sha256 sum;
  for (auto rest = file.bytes(); !rest.empty();) {
    const auto piece = rest.first(std::min(kPiece, rest.size()));
    sum.update(piece);
    file.release(piece);
    rest = rest.subspan(piece.size());
  }
  return sum.hex();
}

}  // namespace

std::filesystem::path manifest_path(const std::filesystem::path& folder) {
  return folder / "manifest.json";
}

std::filesystem::path journal_path(const std::filesystem::path& folder) {
  return folder / "samples.jsonl";
}

Index read_index(const std::filesystem::path& folder, Integrity integrity) {
  if (!is_folder(folder)) {
    throw_input_error({folder.string(), "a trace: a folder with manifest.json",
                       path_exists(folder) ? "a file" : "nothing there"});
  }
  const auto path = manifest_path(folder);
  if (!path_exists(path)) {
    throw_input_error({folder.string(), "a trace: a folder with manifest.json", "no manifest.json in it"});
  }
  const auto read = [&] {
    auto [version, manifest, complete, entries] = parse_manifest(read_file(path), path.string(), integrity);
    return Index{std::move(manifest), version, complete, std::move(entries)};
  };
  Index index = read();
  if (index.complete) return index;  // a journal beside it is what a run killed while tidying up left
  if (has_parts(folder)) {
    index.entries = entries_of_parts(folder, index.manifest, integrity);
    index.complete = index.entries.size() == index.manifest.sample_ids.size();
    return index;
  }
  auto journal = read_journal(journal_path(folder));
  // A run that finishes just now has replaced the manifest before it removes the journal.
  if (journal.empty()) index = read();
  if (index.complete) return index;
  for (const std::string& id : index.manifest.sample_ids) {
    if (auto found = journal.extract(id)) index.entries.push_back(std::move(found.mapped()));
  }
  if (!journal.empty()) {
    throw_input_error({journal_path(folder).string(), "only samples that manifest.json plans",
                       "sample " + journal.begin()->first});
  }
  return index;
}

std::string find_damage(const std::filesystem::path& folder, const SampleEntry& entry,
                        const Comparison& comparison) {
  const auto path = folder / entry.file;
  if (!path_exists(path)) return fmt::format("expected {} bytes, found no such file", entry.bytes);
  return find_damage(path, MappedFile(path), entry, comparison);
}

std::string find_damage(const std::filesystem::path& path, const MappedFile& file, const SampleEntry& entry,
                        const Comparison& comparison) {
  if (file.bytes().size() != entry.bytes) {
    return fmt::format("expected {} bytes as in the manifest, found {}", entry.bytes, file.bytes().size());
  }
  if (comparison.integrity == Integrity::kSizeOnly) return "";
  const bool tree = !entry.tree_sha256.empty();
  const std::string& expected = tree ? entry.tree_sha256 : entry.checksum;
  const VerifiedFiles::Key key = VerifiedFiles::key_of(path, (tree ? "tree " : "") + expected);
  if (VerifiedFiles::of_process().contains(key)) return "";
  const std::string sum = tree ? tree_sha256_of(file, comparison.threads) : sum_of(file);
  if (sum == expected) {
    VerifiedFiles::of_process().add(key);
    return "";
  }
  return fmt::format("expected SHA-256 {}{}, found {} (the file was changed)", expected,
                     tree ? " (tree_sha256)" : "", sum);
}

}  // namespace buoy::trace
