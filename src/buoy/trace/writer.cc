#include "buoy/trace/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/file/atomic_file.h"
#include "buoy/base/file/files.h"
#include "buoy/base/sha256.h"
#include "buoy/trace/folder.h"
#include "buoy/trace/index.h"
#include "buoy/trace/manifest_json.h"

namespace buoy::trace {
namespace fs = std::filesystem;

TraceWriter::TraceWriter(fs::path folder, Manifest manifest, Journal journal)
    : folder_(std::move(folder)), manifest_(std::move(manifest)), journal_(std::move(journal)) {}

TraceWriter TraceWriter::create(const fs::path& folder, const Manifest& manifest) {
  check_manifest(manifest);
  make_folder(folder);
  if (const size_t entries = list_folder(folder).size(); entries > 0) {
    throw_usage_error({folder.string(), "a new or empty folder (a run that was killed can be resumed)",
                       fmt::format("{} entries in it", entries)});
  }
  write_file_atomically(manifest_path(folder), format_manifest(manifest));
  make_folder(folder / "samples");
  return {folder, manifest, Journal(journal_path(folder))};
}

TraceWriter TraceWriter::resume(const fs::path& folder, const Manifest& manifest) {
  check_manifest(manifest);
  if (!path_exists(manifest_path(folder))) {
    if (path_exists(folder)) remove_partial_files(folder);
    if (!path_exists(folder) || list_folder(folder).empty()) return create(folder, manifest);
  }
  const std::string where = manifest_path(folder).string();
  require_same_run(read_index(folder).manifest, manifest, where);  // before anything is touched

  Journal journal(journal_path(folder));
  Index index = read_index(folder);  // again: only now nobody else writes
  require_same_run(index.manifest, manifest, where);
  remove_partial_files(folder);
  make_folder(folder / "samples");
  remove_partial_files(folder / "samples");
  TraceWriter writer(folder, std::move(index.manifest), std::move(journal));
  for (const SampleEntry& entry : index.entries) {
    if (entry.status != Status::kDone) continue;
    if (find_damage(folder, entry, Integrity::kChecksum).empty()) writer.entries_.emplace(entry.id, entry);
  }
  if (!index.complete) {
    writer.journal_.drop_torn_line();
  } else if (writer.entries_.size() < writer.manifest_.sample_ids.size()) {
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
  SampleEntry entry;
  entry.id = sample.id;
  entry.file = sample_file(sample.id).generic_string();
  AtomicFile file(folder_ / entry.file);
  Sha256 checksum;
  format_sample(sample, manifest_.storage, [&](std::span<const std::byte> bytes) {
    checksum.update(bytes);
    file.write(bytes);
  });
  entry.bytes = file.size();
  entry.checksum = checksum.hex();
  file.commit();
  record(entry);
}

void TraceWriter::write_failure(const std::string& id, const std::string& error) {
  require_due(id);
  SampleEntry entry;
  entry.id = id;
  entry.status = Status::kFailed;
  entry.error = error;
  record(entry);
}

void TraceWriter::record(const SampleEntry& entry) {
  journal_.append(entry);
  entries_.emplace(entry.id, entry);
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
  write_file_atomically(manifest_path(folder_), format_manifest(manifest_, entries));
  sync_folder(folder_);  // the journal must not vanish from the disk before the manifest is on it
  journal_.remove();
  finished_ = true;
}

}  // namespace buoy::trace
