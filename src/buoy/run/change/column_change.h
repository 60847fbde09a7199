#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "buoy/probe/probe.h"
#include "buoy/trace/reader.h"

namespace buoy::run {

// Columns of attention: keys that are hidden from every query.
enum class ColumnKind : std::uint8_t {
  kFloating,    // anchors: received attention far above even (three_sigma_lift)
  kRandom,      // as many others
  kStructural,  // as many others that are special, template, white space or punctuation
};

struct ColumnChange {
  ColumnKind kind;
  std::int64_t third;  // of the depth: 0 shallow, 1 middle, 2 deep
};

std::string describe(const ColumnChange& hidden);  // "floating-shallow"
std::vector<ColumnChange> all_column_changes();

// [steps, layers]: positions in the prompt, ascending.
using ColumnSets = std::vector<std::vector<std::vector<std::int32_t>>>;

// What a trace of the same questions says about their columns. Only the prompt's are chosen, and never those
// that hold the answer: hiding these would say nothing about anchors.
class ColumnBook {
 public:
  explicit ColumnBook(const std::filesystem::path& trace);  // InputError where it keeps less than full

  // By step and layer for masked diffusion; by layer, of the forward over the prompt, otherwise. InputError
  // when the trace has no such question, asked it with another prompt, or did not observe every step and
  // layer.
  ColumnSets choose(const std::string& id, std::span<const std::int32_t> prompt, const ColumnChange& hidden,
                    std::uint64_t seed) const;

 private:
  std::filesystem::path folder_;
  trace::TraceReader reader_;
};

// Hides columns from one sequence. Steps beyond the last set have the last one's.
class ColumnChangeProbe final : public probe::Probe {
 public:
  explicit ColumnChangeProbe(ColumnSets sets) : sets_(std::move(sets)) {}

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override { return {}; }
  void take(const probe::Address&, probe::LayerRecord&&) override {}
  probe::Change change(const probe::Address& address, const probe::LayerExtent& extent) override;

 private:
  ColumnSets sets_;
  std::vector<std::vector<float>> bias_;  // [layers] of the forward under way
};

}  // namespace buoy::run
