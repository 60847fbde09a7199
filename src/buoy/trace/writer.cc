#include "buoy/trace/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/trace/folder.h"
#include "buoy/trace/index.h"
#include "buoy/trace/manifest_json.h"

namespace buoy::trace {
namespace fs = std::filesystem;
namespace {

// Those that are done and whose files are what their entries say, by id.
std::map<std::string, SampleEntry> whole_samples(const fs::path& folder, const Index& index) {
  std::map<std::string, SampleEntry> whole;
  for (const SampleEntry& entry : index.entries) {
    if (entry.status == Status::kDone && find_damage(folder, entry, Comparison{}).empty())
      whole.emplace(entry.id, entry);
  }
  return whole;
}

// A trace has samples of one version, so one that another version left with something to do is refused.
void require_own_version(const fs::path& folder, const Index& index) {
  const std::int64_t own = version_of(index.manifest.level, index.manifest.blocks);
  if (index.version == own) return;
  if (index.complete && whole_samples(folder, index).size() == index.manifest.sample_ids.size()) return;
  throw_input_error({manifest_path(folder).string() + ": version",
                     fmt::format("{} (an unfinished run is continued by the Buoy that began it)", own),
                     std::to_string(index.version)});
}

}  // namespace

TraceWriter::TraceWriter(fs::path folder, Manifest manifest, Journal journal)
    : folder_(std::move(folder)), manifest_(std::move(manifest)), journal_(std::move(journal)) {}

TraceWriter TraceWriter::create(const fs::path& folder, const Manifest& manifest) {
  check_manifest(manifest);
  make_folder(folder);
  if (const size_t entries = list_folder(folder).size(); entries > 0) {
    throw_usage_error({folder.string(), "a new or empty folder (a run that was killed can be resumed)",
                       counted(entries, "entry", "entries") + " in it"});
  }
  write_file_atomically(manifest_path(folder), format_manifest(manifest));
  make_folder(folder / "samples");
  return {folder, manifest, Journal(journal_path(folder))};
}

TraceWriter TraceWriter::resume(const fs::path& folder, const Manifest& manifest) {
  return go_on(folder, manifest, Planned::kAll);
}

TraceWriter TraceWriter::resume_part(const fs::path& folder, const Manifest& manifest) {
  return go_on(folder, manifest, Planned::kSome);
}

TraceWriter TraceWriter::go_on(const fs::path& folder, const Manifest& manifest, Planned planned) {
  const auto require_same = [&](Index& index) {
    if (planned == Planned::kSome) index.manifest.sample_ids = manifest.sample_ids;
    require_same_run(index.manifest, manifest, manifest_path(folder).string());
  };
  check_manifest(manifest);
  if (!path_exists(manifest_path(folder))) {
    if (path_exists(folder)) remove_partial_files(folder);
    if (!path_exists(folder) || list_folder(folder).empty()) return create(folder, manifest);
  }
  {  // before anything is touched
    Index before = read_index(folder);
    require_same(before);
    require_own_version(folder, before);
  }
  Journal journal(journal_path(folder));
  Index index = read_index(folder);  // again: only now nobody else writes
  require_same(index);
  remove_partial_files(folder);
  make_folder(folder / "samples");
  remove_partial_files(folder / "samples");
  TraceWriter writer(folder, std::move(index.manifest), std::move(journal));
  writer.entries_ = whole_samples(folder, index);
  writer.was_complete_ = index.complete && writer.entries_.size() == writer.manifest_.sample_ids.size();
  if (!index.complete) {
    writer.journal_.drop_torn_line();
  } else if (!writer.was_complete_) {
    // No longer complete. The journal first: until the manifest says otherwise nobody reads it.
    writer.journal_.clear();
    for (const auto& [id, entry] : writer.entries_) writer.journal_.append(entry);
    write_file_atomically(manifest_path(folder), format_manifest(writer.manifest_));
  }
  for (const std::string& id : writer.manifest_.sample_ids) {
    if (!writer.has(id)) remove_file(folder / sample_file(id));
  }
  return writer;
}

void TraceWriter::require_due(const std::string& id) const {
  BUOY_CHECK(!finished_);
  check_sample_id(id);
  const auto& planned = manifest_.sample_ids;
  if (std::find(planned.begin(), planned.end(), id) == planned.end()) {
    throw_usage_error({folder_.string(), "a sample that the manifest plans", "sample " + id});
  }
  if (has(id)) throw_usage_error({folder_.string(), "each sample once", fmt::format("sample {} again", id)});
}

void TraceWriter::write(const Sample& sample) {
  require_due(sample.id);
  check_sample(sample, &manifest_.model);
  commit(begin_sample(plan_of(sample, manifest_.storage))->finish({}, sample.arrays));
}

std::unique_ptr<SampleFile> TraceWriter::begin_sample(SamplePlan plan) const {
  require_due(plan.id);
  return std::make_unique<SampleFile>(
      SamplePlace{folder_, manifest_.storage, &manifest_.model, manifest_.level}, std::move(plan));
}

void TraceWriter::commit(const SampleEntry& entry) {
  require_due(entry.id);
  journal_.append(entry);
  entries_.emplace(entry.id, entry);
}

void TraceWriter::write_failure(const std::string& id, const std::string& error) {
  SampleEntry entry;
  entry.id = id;
  entry.status = Status::kFailed;
  entry.error = error;
  commit(entry);
}

void TraceWriter::finish_part() {
  std::erase_if(manifest_.sample_ids, [&](const std::string& id) { return !has(id); });
  finish();
}

void TraceWriter::finish() {
  BUOY_CHECK(!finished_);
  std::vector<SampleEntry> entries;
  for (const std::string& id : manifest_.sample_ids) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) {
      throw_usage_error({folder_.string(),
                         fmt::format("all {} samples written or failed", manifest_.sample_ids.size()),
                         fmt::format("{}, without {}", entries_.size(), id)});
    }
    entries.push_back(found->second);
  }
  if (!was_complete_) {
    write_file_atomically(manifest_path(folder_), format_manifest(manifest_, entries));
    sync_folder(folder_);  // the journal must not vanish from the disk before the manifest is on it
  }
  journal_.remove();
  finished_ = true;
}

}  // namespace buoy::trace
