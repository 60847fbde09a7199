#include "buoy/observe/record_layout.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/trace/rows/answer_rows.h"

namespace buoy::observe {
namespace {

std::int64_t index_in(const std::vector<std::int64_t>& sorted, std::int64_t value) {
  return std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
}

}  // namespace

std::int64_t RecordLayout::Part::cell_size() const {
  return std::accumulate(cell.begin(), cell.end(), std::int64_t{1}, std::multiplies<>());
}

RecordLayout::RecordLayout(const Plan& plan, const Subject& subject)
    : plan_(plan),
      subject_(subject),
      previous_(std::make_shared<probe::PreviousStates>(subject.layers)),
      previous_keys_(std::make_shared<probe::PreviousKeys>(subject.layers)),
      steps_(plan.steps.below(subject.steps)),
      layers_(plan.layers.below(subject.layers, "layers")) {
  for (std::int64_t p = subject.prompt_length; p < subject.tokens; ++p) {
    rows_.push_back(static_cast<std::int32_t>(trace::row_that_writes(p, subject.prediction_offset)));
  }
  // A prompt of no tokens makes positions 0 and 1 share row 0 under a prediction offset.
  rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  parts_ = find_parts();
  probe::LayerRequest request;
  SetsOfEnd sets;
  ask(request, subject.tokens, sets);
  const auto& residual = request.residual;
  looks_closely_ = request.row_weights || request.row_mass || request.top > 0 || residual.head_out ||
                   residual.behind_attention();
}

std::int64_t RecordLayout::size_of(char letter) const {
  switch (letter) {
    case 'T':
      return subject_.tokens;
    case 'H':
      return subject_.heads;
    case 'V':
      return subject_.kv_heads;
    case 'D':
      return subject_.head_dim;
    case 'G':
      return subject_.groups.count();
    case 'R':
      return std::ssize(rows_);
    case 'C':
      return std::ssize(subject_.regions.names);
    case 'M':
      return subject_.hidden;
    case 'K':
      return plan_.top_count;
    case 'A':
      return subject_.tokens - subject_.prompt_length;
    case 'X':
      return subject_.chosen;
    case 'E':
      return subject_.experts;
    case 'P':
      return plan_.predicted_tokens;
    default:
      break;
  }
  BUOY_CHECK(letter == 'S' || letter == 'L');
  return letter == 'S' ? std::ssize(steps_) : std::ssize(layers_);
}

std::vector<RecordLayout::Part> RecordLayout::find_parts() const {
  std::vector<Part> parts;
  for (const auto& schema : trace::array_schema()) {
    if (schema.observe.empty() || !plan_.has(schema.observe)) continue;
    const auto sources = array_sources();
    const auto source = std::find_if(sources.begin(), sources.end(),
                                     [&](const ArraySource& one) { return one.array == schema.name; });
    BUOY_CHECK(source != sources.end());
    if (source->there != nullptr && !source->there(subject_)) continue;
    Part part{&schema, &*source, {}, schema.name.ends_with("{l}")};
    part.of_forward = !part.large && !schema.shape.starts_with("S L");
    for (const char letter : schema.shape) {
      if (letter != ' ' && letter != 'S' && letter != 'L') part.cell.push_back(size_of(letter));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

RecordLayout::Shape RecordLayout::stacked_shape(const Part& part) const {
  Shape shape = {size_of('S')};
  if (!part.of_forward) shape.push_back(size_of('L'));
  shape.insert(shape.end(), part.cell.begin(), part.cell.end());
  return shape;
}

std::vector<const RecordLayout::Part*> RecordLayout::stacked_parts() const {
  std::vector<const Part*> out;
  for (const auto& part : parts_) {
    if (!part.large) out.push_back(&part);
  }
  std::stable_sort(out.begin(), out.end(), [](const Part* a, const Part* b) {
    const auto rank = [](const Part* part) {
      return std::pair(part->source->integers != nullptr, part->schema->name);
    };
    return rank(a) < rank(b);
  });
  return out;
}

std::vector<trace::Array> RecordLayout::frame(std::span<const std::int32_t> tokens_by_step,
                                              std::span<const std::int32_t> group_sizes) const {
  const std::int64_t S = size_of('S'), L = size_of('L'), R = size_of('R'), T = size_of('T'), G = size_of('G');
  const auto to_int32 = [](const std::vector<std::int64_t>& values) {
    return std::vector<std::int32_t>(values.begin(), values.end());
  };
  std::vector<trace::Array> out;
  out.push_back(trace::integer_array(trace::kSteps, {S}, to_int32(steps_)));
  out.push_back(trace::integer_array(trace::kLayers, {L}, to_int32(layers_)));
  out.push_back(trace::integer_array(trace::kTokensByStep, {S, T}, tokens_by_step));
  out.push_back(trace::integer_array(trace::kGroupSizes, {S, G}, group_sizes));
  if (looks_closely_) out.push_back(trace::integer_array(trace::kRowPositions, {R}, rows_));
  if (const auto& run = subject_.blocks) {
    std::vector<std::uint8_t> kinds;
    std::vector<std::int32_t> ran;
    for (const auto step : steps_) {
      kinds.push_back(run->kinds[static_cast<size_t>(step)]);
      const auto first = run->rows_run.begin() + 2 * step;
      ran.insert(ran.end(), first, first + 2);
    }
    out.push_back(trace::byte_array(trace::kStepKinds, {S}, kinds));
    out.push_back(trace::integer_array(trace::kRowsRun, {S, 2}, ran));
    out.push_back(trace::integer_array(trace::kReveals, {std::ssize(run->reveals) / 3, 3}, run->reveals));
  }
  return out;
}

std::int64_t RecordLayout::cell_index(const Part& part, const probe::Address& address) const {
  return part.of_forward ? step_index(address) : step_index(address) * size_of('L') + layer_index(address);
}

bool RecordLayout::asks_layers() const {
  return std::any_of(plan_.wanted.begin(), plan_.wanted.end(),
                     [](const Observable* observable) { return observable->ask != nullptr; });
}

bool RecordLayout::observes(const probe::Address& address) const {
  return address.branch == 0 && plan_.steps.contains(address.step) &&
         (address.layer == probe::kWholeForward || plan_.layers.contains(address.layer));
}

std::int64_t RecordLayout::step_index(const probe::Address& address) const {
  return index_in(steps_, address.step);
}

std::int64_t RecordLayout::layer_index(const probe::Address& address) const {
  return index_in(layers_, address.layer);
}

std::int64_t RecordLayout::answer_end(std::span<const std::int32_t> row) const {
  const auto& ends = subject_.end_tokens;
  return trace::answer_end(subject_.prompt_length, std::ssize(row), [&](std::int64_t p) {
    return std::find(ends.begin(), ends.end(), row[static_cast<size_t>(p)]) != ends.end();
  });
}

void RecordLayout::ask(probe::LayerRequest& request, std::int64_t answer_end, SetsOfEnd& sets) const {
  if (sets.answer_end != answer_end)
    sets = {key_sets(padded(subject_.regions, subject_.prompt_length, answer_end)), answer_end};
  const Close close{rows_, plan_.top_count, sets.sets, previous_, previous_keys_};
  for (const auto* observable : plan_.wanted) {
    if (observable->ask != nullptr) observable->ask(request, close);
  }
}

probe::LayerRequest RecordLayout::request(const probe::LayerExtent& extent, SetsOfEnd& sets) const {
  BUOY_CHECK(extent.query_rows == subject_.tokens && extent.key_rows == subject_.tokens);
  probe::LayerRequest r;
  r.groups = subject_.groups.count();
  const std::int64_t end = answer_end(extent.tokens);
  r.group_of_row = subject_.groups.assign(
      {extent.tokens, subject_.prompt_length, subject_.mask_token, end, subject_.prediction_offset});
  for (std::int64_t row = 0; row < extent.query_rows; ++row) {
    if (!extent.runs(row)) r.group_of_row[static_cast<size_t>(row)] = probe::kNoGroup;
  }
  ask(r, end, sets);
  return r;
}

probe::PredictionRequest RecordLayout::predictions(std::span<const std::int32_t> row) const {
  probe::PredictionRequest r;
  if (!predicts()) return r;
  r.top = plan_.predicted_tokens;
  for (std::int64_t p = subject_.prompt_length; p < subject_.tokens; ++p) {
    const auto token = row[static_cast<size_t>(p)];
    r.rows.push_back(static_cast<std::int32_t>(trace::row_that_writes(p, subject_.prediction_offset)));
    r.held.push_back(token == subject_.mask_token ? probe::PredictionRequest::kMostProbable : token);
  }
  return r;
}

std::vector<std::int32_t> RecordLayout::group_sizes(const probe::LayerRequest& request) const {
  std::vector<std::int32_t> sizes(static_cast<size_t>(subject_.groups.count()), 0);
  for (const auto group : request.group_of_row) {
    if (group < sizes.size()) ++sizes[group];
  }
  return sizes;
}

RecordLayout::Bytes RecordLayout::expected_bytes() const {
  std::int64_t all = 0, large = 0;
  for (const auto& part : parts_) {
    all += part.cell_size() * cells(part);
    if (part.large) large += part.cell_size() * cells(part);
  }
  const std::int64_t rows = size_of('S') * subject_.tokens;
  return {static_cast<std::uint64_t>(4 * (all + rows)), static_cast<std::uint64_t>(4 * large)};
}

}  // namespace buoy::observe
