#include "buoy/run/live/trace_sink.h"

#include <utility>

#include "buoy/run/live/compact_arrays.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

std::vector<std::int32_t> joined(const std::vector<std::vector<std::int32_t>>& rows) {
  std::vector<std::int32_t> out;
  for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

}  // namespace

trace::SamplePlan sample_plan(const observe::RecordLayout& layout, const analysis::SampleFacts& facts,
                              const Keeping& keeping) {
  trace::SamplePlan plan;
  plan.id = facts.id();
  plan.keep_f32 = keeping.as_f32;
  const auto add = [&](std::string_view name, trace::DataType dtype, std::int64_t cells = 1) {
    if (facts.has(name)) plan.arrays.push_back({std::string(name), dtype, facts.shape(name), cells});
  };
  using enum trace::DataType;
  add(trace::kTokens, kI32);
  add(trace::kRevealedAt, kI32);
  add(trace::kRegionOfToken, kU8);
  add(trace::kEvidence, kU8);
  for (const auto name :
       {trace::kSteps, trace::kLayers, trace::kTokensByStep, trace::kGroupSizes, trace::kRowPositions})
    add(name, kI32);
  if (keeping.level == trace::Level::kFull) {
    for (const auto* part : layout.stacked_parts())
      add(part->schema->name, part->source->integers != nullptr ? kI32 : kF32, layout.addresses());
    for (const auto step : layout.steps()) {
      for (const auto layer : layout.layers()) {
        for (const auto& part : layout.parts()) {
          if (part.large) add(trace::array_name(part.schema->name, step, layer), kF32);
        }
      }
    }
  }
  add(trace::kSpecial, kU8);
  if (keeping.level == trace::Level::kCompact) {
    const CompactArrays compact(facts, keeping.chosen);
    plan.arrays.insert(plan.arrays.end(), compact.arrays().begin(), compact.arrays().end());
    plan.keep_f32.merge(CompactArrays::kept_as_f32());
  }
  return plan;
}

TraceSink::TraceSink(SharedTrace& trace, const observe::RecordLayout& layout, trace::SamplePlan plan)
    : trace_(trace), layout_(layout) {
  const std::lock_guard lock(trace_.mutex);
  file_ = trace_.writer.begin_sample(std::move(plan));
}

void TraceSink::take(const analysis::LayerView& layer) {
  const std::int64_t cell = layer.s() * layout_.size_of('L') + layer.l;
  for (const auto& part : layout_.parts()) {
    if (part.large) {
      const auto name = trace::array_name(part.schema->name, layer.forward.number, layer.layer());
      file_->put(name, 0, layer.floats(name));
    } else if (part.source->integers != nullptr) {
      file_->put(part.schema->name, cell, layer.integers(part.schema->name));
    } else {
      file_->put(part.schema->name, cell, layer.floats(part.schema->name));
    }
  }
}

void TraceSink::end(const analysis::ObservedSample& sample) {
  for (auto& array : layout_.frame(joined(sample.rows), joined(sample.group_sizes)))
    frame_.arrays.push_back(std::move(array));
  const auto entry = file_->finish(frame_.metadata, frame_.arrays);
  file_.reset();
  const std::lock_guard lock(trace_.mutex);
  trace_.writer.commit(entry);
}

void TraceSink::fail(const analysis::ObservedSample& sample, const std::string& error) {
  file_.reset();
  const std::lock_guard lock(trace_.mutex);
  trace_.writer.write_failure(sample.id(), error);
  trace_.failed.push_back({sample.id(), error});
}

}  // namespace buoy::run
