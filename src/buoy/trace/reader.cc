#include "buoy/trace/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/trace/folder.h"
#include "buoy/trace/sample.h"

namespace buoy::trace {

TraceReader::TraceReader(std::filesystem::path folder, Index index, const Comparison& comparison)
    : folder_(std::move(folder)), index_(std::move(index)), comparison_(comparison) {}

TraceReader TraceReader::open(const std::filesystem::path& folder, Integrity integrity, int threads) {
  return {folder, read_index(folder, integrity), {integrity, threads}};
}

StoredSample TraceReader::read(const std::string& id) const {
  const auto entry = std::find_if(index_.entries.begin(), index_.entries.end(),
                                  [&](const SampleEntry& other) { return other.id == id; });
  if (entry == index_.entries.end()) {
    const auto& planned = index_.manifest.sample_ids;
    const bool later = std::find(planned.begin(), planned.end(), id) != planned.end();
    throw_usage_error({folder_.string(), "the id of a stored sample",
                       fmt::format("\"{}\" ({})", id, later ? "planned, not reached yet" : "unknown")});
  }
  if (entry->status == Status::kFailed) {
    throw_input_error({fmt::format("{}: sample {}", folder_.string(), id), "a sample that was done",
                       "one that failed: " + entry->error});
  }
  const auto path = folder_ / entry->file;
  const std::string name = path.string();
  if (!path_exists(path)) throw_input_error({name, fmt::format("{} bytes", entry->bytes), "no such file"});
  MappedFile file(path);
  const std::string damage = find_damage(path, file, *entry, comparison_);
  if (!damage.empty()) throw InputError(fmt::format("{}: {}", name, damage));
  StoredSample sample(std::move(file), name, index_.manifest);
  if (sample.id() != id) throw_input_error({name, "sample " + id, "sample " + sample.id()});
  return sample;
}

std::vector<std::string> TraceReader::verify() const {
  std::vector<std::string> problems;
  std::set<std::string> known;
  if (!complete()) {
    // A run under way puts the file of a sample in its place before it says so in the journal.
    for (const auto& id : index_.manifest.sample_ids) known.insert(sample_file(id).filename().string());
  }
  for (const SampleEntry& entry : index_.entries) {
    if (entry.status == Status::kFailed) continue;
    known.insert(std::filesystem::path(entry.file).filename().string());
    try {
      read(entry.id);
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  const auto samples = folder_ / "samples";
  if (!path_exists(samples)) return problems;
  for (const auto& path : list_folder(samples)) {
    const std::string name = path.filename().string();
    if (!known.contains(name) && (complete() || !is_partial_file(name))) {
      problems.push_back(path.string() + ": belongs to no sample of the manifest");
    }
  }
  return problems;
}

}  // namespace buoy::trace
