#include "buoy/run/live/trace_sink.h"

#include <utility>

#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

std::vector<std::int32_t> joined(const std::vector<std::vector<std::int32_t>>& rows) {
  std::vector<std::int32_t> out;
  for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

}  // namespace

trace::SamplePlan sample_plan(const analysis::SampleFacts& facts, const Keeping& keeping,
                              const observe::RecordLayout* observed) {
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
  for (const auto name : {trace::kSteps, trace::kLayers, trace::kTokensByStep, trace::kGroupSizes,
                          trace::kRowPositions, trace::kRowsRun, trace::kReveals})
    add(name, kI32);
  add(trace::kStepKinds, kU8);
  if (keeping.level == trace::Level::kFull) {
    BUOY_CHECK(observed != nullptr);
    for (const auto* part : observed->stacked_parts())
      add(part->schema->name, part->source->integers != nullptr ? kI32 : kF32, observed->cells(*part));
    for (const auto step : observed->steps()) {
      for (const auto layer : observed->layers()) {
        for (const auto& part : observed->parts()) {
          if (part.large) add(trace::array_name(part.schema->name, step, layer), kF32);
        }
      }
    }
  }
  add(trace::kSpecial, kU8);
  add(trace::kTemplateText, kU8);
  add(trace::kEnds, kU8);
  if (keeping.level == trace::Level::kCompact) {
    const CompactArrays compact(facts, keeping.chosen);
    plan.arrays.insert(plan.arrays.end(), compact.arrays().begin(), compact.arrays().end());
    plan.keep_f32.merge(CompactArrays::kept_as_f32());
  }
  return plan;
}

void SharedRun::fail(const std::string& id, const std::string& error) {
  const std::lock_guard lock(mutex);
  if (writer) writer->write_failure(id, error);
  failed.push_back({id, error});
  if (ended) ended(id);
}

TraceSink::TraceSink(SharedRun& run, const analysis::SampleFacts& sample, const Keeping& keeping,
                     const observe::RecordLayout* observed)
    : run_(run),
      observed_(observed == nullptr ? std::nullopt : std::optional(*observed)),
      level_(keeping.level),
      own_(keeping.analyses) {
  const std::lock_guard lock(run_.mutex);
  const auto& analyses = own_ ? *own_ : run_.analyses;
  if (!analyses.empty()) analyses_.emplace(analyses, sample);
  if (!run_.writer) return;
  if (level_ == trace::Level::kCompact) compact_.emplace(sample, keeping.chosen);
  file_ = run_.writer->begin_sample(sample_plan(sample, keeping, observed));
}

void TraceSink::take(const analysis::LayerView& layer) {
  if (analyses_) analyses_->take(layer);
  if (compact_) compact_->take(layer, *file_);
  if (file_ && level_ == trace::Level::kFull) put_observed(layer);
}

void TraceSink::put_observed(const analysis::LayerView& layer) {
  const std::int64_t cell = layer.forward.place * observed_->size_of('L') + layer.l;
  for (const auto& part : observed_->parts()) {
    if (part.of_forward) continue;
    if (part.large) {
      const auto name = trace::array_name(part.schema->name, layer.forward.number, layer.layer());
      file_->put(name, 0, layer.floats(name));
    } else {
      put_cell(part, cell, layer);
    }
  }
}

template <typename View>
void TraceSink::put_cell(const observe::RecordLayout::Part& part, std::int64_t cell, const View& values) {
  if (part.source->integers != nullptr) {
    file_->put(part.schema->name, cell, values.integers(part.schema->name));
  } else {
    file_->put(part.schema->name, cell, values.floats(part.schema->name));
  }
}

void TraceSink::take_forward(const analysis::ForwardView& forward) {
  if (analyses_) analyses_->take_forward(forward);
  if (!file_ || level_ != trace::Level::kFull) return;
  for (const auto& part : observed_->parts()) {
    if (part.of_forward) put_cell(part, forward.forward.place, forward);
  }
}

std::set<std::string> TraceSink::exceeding_f16() const {
  return file_ ? file_->exceeding_f16() : std::set<std::string>{};
}

void TraceSink::finish_layer(const analysis::ObservedSample& sample, std::int64_t l) {
  if (analyses_) analyses_->finish_layer(sample, l);
}

void TraceSink::finish(const analysis::ObservedSample& sample) {
  if (analyses_) analyses_->finish(sample);
  if (file_ && level_ == trace::Level::kFull) write(sample);
}

void TraceSink::end(const analysis::ObservedSample& sample) {
  if (analyses_) {
    const std::lock_guard lock(run_.mutex);
    analyses_->end(sample);
  }
  // States are those behind end(): what is drawn of a sample is known only then.
  if (file_) write(sample);
  const std::lock_guard lock(run_.mutex);
  if (!written_) return;
  run_.writer->commit(*written_);
  if (run_.ended) run_.ended(written_->id);
}

void TraceSink::write(const analysis::ObservedSample& sample) {
  if (observed_) {
    for (auto& array : observed_->frame(joined(sample.rows), joined(sample.group_sizes)))
      frame_.arrays.push_back(std::move(array));
  }
  if (level_ != trace::Level::kFull) {
    const auto states = analyses_->states();
    std::vector<trace::Array> arrays;
    for (size_t a = 0; a < states.size(); ++a)
      arrays.push_back(
          trace::byte_array(trace::state_name(run_.names[a]), {std::ssize(states[a])}, states[a]));
    file_->append(arrays);
  }
  written_ = file_->finish(frame_.metadata, frame_.arrays);
  file_.reset();
}

void TraceSink::fail(const analysis::ObservedSample& sample, const std::string& error) {
  file_.reset();
  run_.fail(sample.id(), error);
}

}  // namespace buoy::run
