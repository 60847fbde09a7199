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

// Whole numbers keep to the bounds of their option when a file is read, others when a model is known.
struct Sound {
  const buoy::decode::DecodeOption& option;

  void operator()(double number) const { expect(std::isfinite(number)); }
  void operator()(std::int32_t number) const { expect(number >= option.bounds.least); }
  void operator()(std::int64_t number) const { expect(static_cast<double>(number) >= option.bounds.least); }
  void operator()(const std::vector<std::int32_t>& ids) const {
    for (const auto id : ids) expect(id >= 0);
  }
  template <typename Value>
  void operator()(const std::optional<Value>& value) const {
    if (value) (*this)(*value);
  }
  template <typename Value>
  void operator()(const Value&) const {}
};

void check_decoding(const Decoding& decoding) {
  for (const auto* option : decoding.given)
    std::visit([&](const auto member) { Sound{*option}(decoding.values.*member); }, option->field);
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
