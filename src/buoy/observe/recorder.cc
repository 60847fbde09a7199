#include "buoy/observe/recorder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::observe {
namespace {

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

size_t index_of(const std::vector<std::int64_t>& sorted, std::int64_t value) {
  return static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
}

std::vector<std::int32_t> to_int32(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

Recorder::Recorder(const Plan& plan, const Subject& subject)
    : plan_(plan),
      subject_(subject),
      steps_(plan.steps.below(subject.steps)),
      layers_(plan.layers.below(subject.layers)),
      tokens_by_step_(steps_.size() * static_cast<size_t>(subject.tokens), 0),
      group_sizes_(steps_.size() * static_cast<size_t>(subject.groups.count()), 0),
      taken_(steps_.size() * layers_.size(), false) {
  for (std::int64_t p = subject.prompt_length; p < subject.tokens; ++p) {
    rows_.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(0, p - subject.prediction_offset)));
  }
  // A prompt of no tokens makes positions 0 and 1 share row 0 under a prediction offset.
  rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
}

std::int64_t Recorder::size_of(char letter) const {
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
      return static_cast<std::int64_t>(rows_.size());
    case 'C':
      return static_cast<std::int64_t>(subject_.regions.names.size());
    case 'K':
      return plan_.top_count;
    default:
      break;
  }
  BUOY_CHECK(letter == 'S' || letter == 'L');
  return static_cast<std::int64_t>(letter == 'S' ? steps_.size() : layers_.size());
}

// In the order of the schema.
std::vector<Recorder::Part> Recorder::parts() const {
  std::vector<Part> parts;
  for (const auto& schema : trace::array_schema()) {
    if (schema.observe.empty() || !plan_.has(schema.observe)) continue;
    const auto sources = array_sources();
    const auto source = std::find_if(sources.begin(), sources.end(),
                                     [&](const ArraySource& one) { return one.array == schema.name; });
    BUOY_CHECK(source != sources.end());
    if (source->there != nullptr && !source->there(subject_)) continue;
    Part part{&schema, &*source, {}, schema.name.ends_with("{l}"), {}, {}};
    for (const char letter : schema.shape) {
      if (letter != ' ' && letter != 'S' && letter != 'L') part.cell.push_back(size_of(letter));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

bool Recorder::looks_closely() const {
  probe::LayerRequest request;
  for (const auto* observable : plan_.wanted) observable->ask(request, {rows_, plan_.top_count});
  return request.row_weights || request.top > 0;
}

probe::LayerRequest Recorder::request(const probe::Address& address, const probe::LayerExtent& extent) {
  probe::LayerRequest r;
  if (address.branch != 0 || !plan_.steps.contains(address.step) || !plan_.layers.contains(address.layer))
    return r;
  BUOY_CHECK(extent.query_rows == subject_.tokens && extent.key_rows == subject_.tokens);
  const size_t step = index_of(steps_, address.step), groups = static_cast<size_t>(subject_.groups.count());
  std::copy(extent.tokens.begin(), extent.tokens.end(),
            tokens_by_step_.begin() + static_cast<std::ptrdiff_t>(step) * subject_.tokens);
  r.groups = subject_.groups.count();
  r.group_of_row = subject_.groups.assign({extent.tokens, subject_.prompt_length, subject_.mask_token});
  std::int32_t* sizes = group_sizes_.data() + step * groups;
  std::fill_n(sizes, groups, 0);
  for (const auto group : r.group_of_row) {
    if (group < groups) ++sizes[group];
  }
  for (const auto* observable : plan_.wanted) observable->ask(r, {rows_, plan_.top_count});
  return r;
}

void Recorder::put(Part& part, const probe::Address& address, const Seen& seen) {
  const auto each = static_cast<size_t>(product(part.cell));
  const size_t at = index_of(steps_, address.step) * layers_.size() + index_of(layers_, address.layer);
  const auto fill = [&](auto& stack, const auto& values) {
    BUOY_CHECK(values.size() == each);
    stack.resize(taken_.size() * each);
    std::copy(values.begin(), values.end(), stack.begin() + static_cast<std::ptrdiff_t>(at * each));
  };
  if (part.source->integers != nullptr) return fill(part.integers, part.source->integers(seen));
  const Values values = part.source->floats(seen);
  if (!part.large) return fill(part.floats, values.view());
  large_.push_back(trace::float_array(trace::array_name(part.schema->name, address.step, address.layer),
                                      part.cell, values.view()));
}

void Recorder::take(const probe::Address& address, probe::LayerRecord&& record) {
  if (parts_.empty()) parts_ = parts();
  const size_t at = index_of(steps_, address.step) * layers_.size() + index_of(layers_, address.layer);
  BUOY_CHECK(!taken_[at]);
  taken_[at] = true;
  for (auto& part : parts_) put(part, address, {record, subject_});
}

trace::Array Recorder::stacked(const Part& part) const {
  Shape shape = {size_of('S'), size_of('L')};
  shape.insert(shape.end(), part.cell.begin(), part.cell.end());
  return part.source->integers != nullptr
             ? trace::integer_array(std::string(part.schema->name), shape, part.integers)
             : trace::float_array(std::string(part.schema->name), shape, part.floats);
}

std::vector<trace::Array> Recorder::arrays() {
  BUOY_CHECK(std::find(taken_.begin(), taken_.end(), false) == taken_.end());
  const std::int64_t S = size_of('S'), L = size_of('L'), R = size_of('R');
  std::vector<trace::Array> out;
  out.push_back(trace::integer_array(trace::kSteps, {S}, to_int32(steps_)));
  out.push_back(trace::integer_array(trace::kLayers, {L}, to_int32(layers_)));
  out.push_back(trace::integer_array(trace::kTokensByStep, {S, subject_.tokens}, tokens_by_step_));
  out.push_back(trace::integer_array(trace::kGroupSizes, {S, subject_.groups.count()}, group_sizes_));
  if (looks_closely()) out.push_back(trace::integer_array(trace::kRowPositions, {R}, rows_));
  // Floats by name, then integers, then what is large as it came: the order in the file.
  std::stable_sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    const auto rank = [](const Part& part) {
      return std::pair(part.source->integers != nullptr, part.schema->name);
    };
    return rank(a) < rank(b);
  });
  for (auto& part : parts_) {
    if (part.large) continue;
    out.push_back(stacked(part));
    part.floats = {}, part.integers = {};
  }
  std::move(large_.begin(), large_.end(), std::back_inserter(out));
  parts_.clear();
  large_.clear();
  taken_.assign(taken_.size(), false);
  return out;
}

Recorder::Bytes Recorder::expected_bytes() const {
  std::int64_t all = 0, large = 0;
  for (const auto& part : parts()) {
    all += product(part.cell);
    if (part.large) large += product(part.cell);
  }
  const auto addresses = static_cast<std::int64_t>(taken_.size());
  const std::int64_t rows = size_of('S') * subject_.tokens;
  return {static_cast<std::uint64_t>(4 * (all * addresses + rows)),
          static_cast<std::uint64_t>(4 * large * addresses)};
}

}  // namespace buoy::observe
