#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "buoy/base/error.h"
#include "buoy/trace/journal.h"
#include "buoy/trace/manifest_json.h"
#include "support/temp_folder.h"

// Any text as manifest.json and as samples.jsonl. Only buoy::Error may come out; a manifest that is accepted
// can be written again and read back the same.

namespace {

void expect(bool promise) {
  if (!promise) std::abort();
}

void read_as_manifest(const std::string& text) {
  const auto parsed = buoy::trace::parse_manifest(text, "manifest.json");
  const std::string written =
      parsed.complete ? format_manifest(parsed.manifest, parsed.entries) : format_manifest(parsed.manifest);
  const auto again = buoy::trace::parse_manifest(written, "manifest.json");
  expect(again.complete == parsed.complete && again.entries == parsed.entries);
  expect(again.manifest.sample_ids == parsed.manifest.sample_ids);
}

void read_as_journal(std::string_view text) {
  static const buoy::testing::TempFolder folder;
  const auto path = folder.write("samples.jsonl", text);
  for (const auto& [id, entry] : buoy::trace::read_journal(path)) expect(id == entry.id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    read_as_manifest(text);
  } catch (const buoy::InternalError&) {
    std::abort();
  } catch (const buoy::Error&) {
  }
  try {
    read_as_journal(text);
  } catch (const buoy::InternalError&) {
    std::abort();
  } catch (const buoy::Error&) {
  }
  return 0;
}
