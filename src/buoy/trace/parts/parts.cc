#include "buoy/trace/parts/parts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/atomic_file.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/mapped_file.h"
#include "buoy/shard/parent_folder.h"
#include "buoy/trace/folder.h"
#include "buoy/trace/manifest_json.h"
#include "buoy/trace/sample.h"

namespace buoy::trace {
namespace {

namespace fs = std::filesystem;

struct Held {
  SampleEntry entry;
  std::string part;
};

// Two parts may hold a sample that both were given; never two different ones.
bool same_sample(const SampleEntry& a, const SampleEntry& b) {
  return a.bytes == b.bytes && a.checksum == b.checksum && a.tree_sha256 == b.tree_sha256;
}

void check_part(const fs::path& folder, const Index& part, const Manifest& plan) {
  Manifest expected = plan;
  expected.sample_ids = part.manifest.sample_ids;
  require_same_run(expected, part.manifest, manifest_path(folder).string());
}

void check_place(const shard::Part& part, std::map<int, std::string>& seen) {
  if (!path_exists(part.folder / shard::kPartFile)) return;
  const auto said = shard::read_part_file(part.folder);
  const auto [other, is_new] = seen.emplace(said.index, part.folder.string());
  if (!is_new)
    throw_input_error({part.folder.string(), "every part once",
                       fmt::format("shard {} again, which is in {}", said.name(), other->second)});
  if (said.index != part.shard.index || said.count != part.shard.count)
    throw_input_error(
        {part.folder.string(), fmt::format("shard {}", part.shard.name()), "shard " + said.name()});
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return;
  if (errno == EEXIST) {
    // An earlier join, or one that another process is at.
    if (fs::file_size(to) == fs::file_size(from)) return;
    remove_file(to);
    if (::link(from.c_str(), to.c_str()) == 0 || errno == EEXIST) return;
  }
  const MappedFile file(from);
  AtomicFile copy(to);
  copy.write(file.bytes());
  copy.commit();
}

}  // namespace

bool has_parts(const fs::path& folder) {
  return path_exists(shard::shards_folder(folder) / "shards.json");
}

std::vector<SampleEntry> entries_of_parts(const fs::path& folder, const Manifest& plan, Integrity integrity) {
  std::map<std::string, Held> held;
  std::map<int, std::string> seen;
  const std::set<std::string> planned(plan.sample_ids.begin(), plan.sample_ids.end());
  for (const auto& part : shard::parts_of(folder)) {
    if (!path_exists(manifest_path(part.folder))) continue;  // begun, and no more
    check_place(part, seen);
    Index index = read_index(part.folder, integrity);
    check_part(part.folder, index, plan);
    for (auto& entry : index.entries) {
      if (!planned.contains(entry.id))
        throw_input_error(
            {part.folder.string(), "samples that manifest.json of the run plans", "sample " + entry.id});
      if (entry.status == Status::kDone)
        entry.file = (fs::relative(part.folder, folder) / entry.file).string();
      const auto [at, is_new] = held.try_emplace(entry.id, Held{entry, part.folder.string()});
      if (is_new || entry.status == Status::kFailed) continue;
      if (at->second.entry.status == Status::kDone && !same_sample(at->second.entry, entry)) {
        throw_input_error({fmt::format("{}: sample {}", part.folder.string(), entry.id),
                           "once, or the same bytes as in " + at->second.part, "others"});
      }
      at->second = {entry, part.folder.string()};
    }
  }
  std::vector<SampleEntry> entries;
  for (const auto& id : plan.sample_ids) {
    if (auto found = held.extract(id)) entries.push_back(std::move(found.mapped().entry));
  }
  return entries;
}

void merge_parts(const fs::path& folder) {
  Index index = read_index(folder);
  const auto samples = folder / "samples";
  make_folder(samples);
  for (auto& entry : index.entries) {
    if (entry.status == Status::kFailed) continue;
    const auto to = sample_file(entry.id);
    if (const auto damage = find_damage(folder, entry, {Integrity::kSizeOnly, 1}); !damage.empty())
      throw InputError(fmt::format("{}: {}", (folder / entry.file).string(), damage));
    link_or_copy(folder / entry.file, folder / to);
    entry.file = to.string();
  }
  sync_folder(samples);
  write_file_atomically(manifest_path(folder), format_manifest(index.manifest, index.entries));
  sync_folder(folder);
}

}  // namespace buoy::trace
