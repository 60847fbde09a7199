#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/trace/level.h"
#include "buoy/trace/model_card.h"
#include "buoy/trace/storage.h"

namespace buoy::trace {

// Analyses whose states a trace keeps in place of arrays, and the settings that went into them.
struct KeptAnalyses {
  std::vector<std::string> names;
  std::map<std::string, double> settings;

  bool has(std::string_view name) const;
};

// What one run is: everything that decides the bytes of its samples, and who made it where.
struct Manifest {
  std::string created_by;  // "buoy 0.2.0"
  std::string command;     // for people; may differ between runs that give equal samples
  std::string machine;     // likewise
  ModelCard model;
  std::optional<std::string> tokenizer_sha256;
  std::string decoding = "{}";  // a JSON object as text
  std::string probe = "{}";     // likewise: what was observed, layers, steps, groups
  Storage storage = Storage::kF32;
  Level level = Level::kFull;
  KeptAnalyses analyses;  // of levels that keep states
  bool blocks = false;    // the model sees blocks, so the trace is of kBlocksVersion
  std::uint64_t seed = 0;
  std::vector<std::string> sample_ids;  // all that the run is to hold, in order
};

enum class Status { kDone, kFailed };

// One sample of the list in the manifest or of the journal.
struct SampleEntry {
  std::string id;
  Status status = Status::kDone;
  std::string error;  // of a failed sample; the rest is empty then
  std::string file;   // "samples/<id>.safetensors"
  std::uint64_t bytes = 0;
  // One of the two, the other is empty: the SHA-256 of the file (version 1), or that of the SHA-256 of its
  // pieces (base/tree_sha256.h).
  std::string checksum;
  std::string tree_sha256;

  bool operator==(const SampleEntry&) const = default;
};

// What was observed, by the names of `observe` (schema.h); empty where the manifest does not say.
std::vector<std::string> observed_names(const Manifest& manifest);

// Throws UsageError: sizes that no model has, sums that are none, JSON texts that are no objects, ids that
// are none or come twice.
void check_manifest(const Manifest& manifest);

// One run is not the other: `field` of their manifests differs, as in "probe.layers".
class AnotherRun : public InputError {
 public:
  AnotherRun(const std::string& file, std::string field, std::string expected, std::string found);
  const std::string& field() const { return field_; }
  // The same error of a field that is called otherwise where the run was asked for.
  AnotherRun called(const std::string& name) const;

 private:
  std::string file_, field_, expected_, found_;
};

// Throws AnotherRun when samples of `run` would not belong into the trace that `stored` describes. Compares
// all but the model's name, the command and the machine. `where` is the file named in errors.
void require_same_run(const Manifest& stored, const Manifest& run, const std::string& where);

}  // namespace buoy::trace
