#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "buoy/base/error.h"
#include "buoy/study/study.h"
#include "support/temp_folder.h"

// Any text as a study file. Only buoy::Error may come out; what is accepted names folders that stay where
// they are put, and numbers that are numbers.

namespace {

using buoy::study::Decoding;
using buoy::study::Study;

void expect(bool promise) {
  if (!promise) std::abort();
}

void check_decoding(const Decoding& d) {
  for (const auto& count : {d.max_new_tokens, d.steps, d.block_length}) expect(!count || *count > 0);
  expect(!d.top_k || *d.top_k > 0);
  for (const auto& number : {d.temperature, d.top_p, d.alg_temp, d.eps, d.cfg_scale, d.repetition_penalty}) {
    expect(!number || std::isfinite(*number));
  }
}

template <typename Entries>
void check_names(const Entries& entries) {
  for (const auto& entry : entries) {
    expect(!entry.name.empty() && entry.name[0] != '.');
    for (const char c : entry.name) expect(c != '/' && c != '\\' && (c & 0x80 || (c > ' ' && c < 0x7F)));
  }
}

void check_study(const Study& study) {
  check_names(study.models);
  check_names(study.data);
  check_names(study.traces);
  check_names(study.evaluations);
  expect(!study.models.empty() && !(study.traces.empty() && study.evaluations.empty()));
  check_decoding(study.decoding);
  for (const auto& model : study.models) {
    expect(model.path.native().find('\0') == std::string::npos);
    check_decoding(model.decoding);
  }
  for (const auto& data : study.data) expect(data.file.empty() == data.world.has_value());
  for (const auto& run : study.evaluations) expect(!run.heads || std::isfinite(run.heads->share));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const buoy::testing::TempFolder folder;
  try {
    check_study(
        buoy::study::read_study(folder.write("study.toml", {reinterpret_cast<const char*>(data), size})));
  } catch (const buoy::InternalError&) {
    std::abort();
  } catch (const buoy::Error&) {
  }
  return 0;
}
