#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "buoy/trace/journal.h"
#include "buoy/trace/manifest.h"
#include "buoy/trace/sample.h"
#include "buoy/trace/sample_file.h"

namespace buoy::trace {

// Writes a trace so that a run killed at any instant loses at most the sample under way.
class TraceWriter {
 public:
  // Begins a trace in a folder that is new or empty.
  static TraceWriter create(const std::filesystem::path& folder, const Manifest& manifest);

  // Continues what a killed run left: keeps the samples whose files are whole, forgets the others and those
  // that failed, so that they are tried again. Begins anew when the run was killed before it wrote anything.
  // Throws InputError when the trace in the folder is of another run (see require_same_run), or not finished
  // and of another version of the format. The command and the machine stay those of the first run.
  static TraceWriter resume(const std::filesystem::path& folder, const Manifest& manifest);
  // The same of a part that takes any of the planned samples: what is there may plan fewer.
  static TraceWriter resume_part(const std::filesystem::path& folder, const Manifest& manifest);

  bool has(const std::string& id) const { return entries_.contains(id); }

  // The id must be planned in the manifest and not written yet.
  void write(const Sample& sample);
  // The same of a sample whose arrays come one by one: what finish() of the file returns goes to commit().
  // One file at a time for an id.
  std::unique_ptr<SampleFile> begin_sample(SamplePlan plan) const;
  void commit(const SampleEntry& entry);
  void write_failure(const std::string& id, const std::string& error);

  // Makes the trace complete. Every planned sample must have been written or have failed.
  void finish();
  // The same for those that were written or have failed: they are all that the trace plans from then on.
  void finish_part();

 private:
  enum class Planned { kAll, kSome };
  static TraceWriter go_on(const std::filesystem::path& folder, const Manifest& manifest, Planned planned);

  TraceWriter(std::filesystem::path folder, Manifest manifest, Journal journal);

  void require_due(const std::string& id) const;

  std::filesystem::path folder_;
  Manifest manifest_;
  Journal journal_;
  std::map<std::string, SampleEntry> entries_;
  bool was_complete_ = false;  // when it was resumed, with every sample whole
  bool finished_ = false;
};

}  // namespace buoy::trace
