#include "trace/index.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/mapped_file.h"
#include "base/sha256.h"
#include "trace/journal.h"
#include "trace/manifest_json.h"

namespace buoy::trace {

std::filesystem::path manifest_path(const std::filesystem::path& folder) {
  return folder / "manifest.json";
}

std::filesystem::path journal_path(const std::filesystem::path& folder) {
  return folder / "samples.jsonl";
}

Index read_index(const std::filesystem::path& folder) {
  if (!is_folder(folder)) {
    throw_input_error({folder.string(), "a trace: a folder with manifest.json",
                       path_exists(folder) ? "a file" : "nothing there"});
  }
  const auto path = manifest_path(folder);
  if (!path_exists(path)) {
    throw_input_error({folder.string(), "a trace: a folder with manifest.json", "no manifest.json in it"});
  }
  auto [manifest, complete, entries] = parse_manifest(read_file(path), path.string());
  Index index{std::move(manifest), complete, std::move(entries)};
  if (complete) return index;  // a journal beside it is what a run killed while tidying up left

  auto journal = read_journal(journal_path(folder));
  for (const std::string& id : index.manifest.sample_ids) {
    if (auto found = journal.extract(id)) index.entries.push_back(std::move(found.mapped()));
  }
  if (!journal.empty()) {
    throw_input_error({journal_path(folder).string(), "only samples that manifest.json plans",
                       "sample " + journal.begin()->first});
  }
  return index;
}

std::string find_damage(const std::filesystem::path& folder, const SampleEntry& entry, Integrity integrity) {
  const auto path = folder / entry.file;
  if (!path_exists(path)) return fmt::format("expected {} bytes, found no such file", entry.bytes);
  const MappedFile file(path);
  if (file.bytes().size() != entry.bytes) {
    return fmt::format("expected {} bytes as in the manifest, found {}", entry.bytes, file.bytes().size());
  }
  if (integrity == Integrity::kSizeOnly) return "";
  const std::string sum = sha256_hex(file.bytes());
  if (sum == entry.checksum) return "";
  return fmt::format("expected SHA-256 {}, found {} (the file was changed)", entry.checksum, sum);
}

}  // namespace buoy::trace
