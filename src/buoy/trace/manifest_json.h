#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "buoy/base/file/json_file.h"
#include "buoy/trace/integrity.h"
#include "buoy/trace/manifest.h"

namespace buoy::trace {

// Fields that say who ran it where, and those of "model" that say what it is called: two runs with equal
// samples may differ in them.
inline constexpr std::array kForPeople = {"command", "machine"};
inline constexpr std::array kModelForPeople = {"name", "commit"};

// The text of manifest.json while the run is under way: no list of samples, "planned" ids instead.
std::string format_manifest(const Manifest& manifest);
// The text of the finished one; `entries` in the order of manifest.sample_ids.
std::string format_manifest(const Manifest& manifest, const std::vector<SampleEntry>& entries);

std::string format_entry(const SampleEntry& entry);  // one line of JSON without its end
SampleEntry parse_entry(const Json& json, const std::string& name);

struct ParsedManifest {
  std::int64_t version = 0;
  Manifest manifest;
  bool complete = false;
  std::vector<SampleEntry> entries;  // of a complete trace
};

// Fields it does not know are passed over; `name` is the file named in errors. With kChecksum, fields that
// were changed after the manifest was written are refused, where it has a checksum of its own.
ParsedManifest parse_manifest(const std::string& text, const std::string& name,
                              Integrity integrity = Integrity::kChecksum);

}  // namespace buoy::trace
