#include "buoy/model/residual_stream.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "buoy/base/error.h"

namespace buoy::model {
namespace {

using probe::ResidualPoint;
using probe::ResidualRecord;
using probe::ResidualRequest;

// Calls back with (row of the stretch, number in `chosen`) for every chosen row of the sequence in it.
template <typename Each>
void for_each(std::int64_t first_row, std::span<const std::int32_t> chosen, const StreamRows& rows,
              const Each& each) {
  if (rows.packed.empty()) {
    for (size_t j = 0; j < chosen.size(); ++j) {
      const std::int64_t i = first_row + chosen[j] - rows.first;
      if (i >= 0 && i < rows.count) each(i, static_cast<std::int64_t>(j));
    }
    return;
  }
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::int64_t row = rows.packed_row(i) - first_row;
    const auto found = std::lower_bound(chosen.begin(), chosen.end(), row);
    if (found != chosen.end() && *found == row) each(i, found - chosen.begin());
  }
}

// [rows, width] to [rows].
std::vector<float> lengths(const std::vector<float>& states, std::int64_t width) {
  std::vector<float> out;
  for (auto at = states.begin(); at != states.end(); at += width) {
    double sum = 0;
    for (auto value = at; value != at + width; ++value) sum += double{*value} * *value;
    out.push_back(static_cast<float>(std::sqrt(sum)));
  }
  return out;
}

// With the states of the step before, whose place they take. A step that does not come behind those begins
// anew.
std::vector<float> cosines(probe::PreviousStates& previous, const probe::Address& address,
                           const std::vector<float>& states, std::int64_t hidden) {
  auto& before = previous.of_layer.at(static_cast<size_t>(address.layer));
  auto& step = previous.step.at(static_cast<size_t>(address.layer));
  std::vector<float> out(states.size() / static_cast<size_t>(hidden), 1.0f);
  const bool follows = step >= 0 && step < address.step && before.size() == states.size();
  for (size_t row = 0; row < out.size() && follows; ++row) {
    double dot = 0, here = 0, there = 0;
    for (size_t i = row * static_cast<size_t>(hidden); i < (row + 1) * static_cast<size_t>(hidden); ++i) {
      dot += double{states[i]} * before[i];
      here += double{states[i]} * states[i];
      there += double{before[i]} * before[i];
    }
    const double lengths_product = std::sqrt(here) * std::sqrt(there);
    out[row] = static_cast<float>(lengths_product > 0 ? std::clamp(dot / lengths_product, -1.0, 1.0) : 0.0);
  }
  before = states;
  step = address.step;
  return out;
}

}  // namespace

bool are_rows_of(std::span<const std::int32_t> rows, std::int64_t count) {
  return std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end() &&
         (rows.empty() || (rows.front() >= 0 && rows.back() < count));
}

void finish_residual(const ResidualRequest& request, const probe::Address& address, std::int64_t hidden,
                     ResidualRecord& record) {
  if (request.previous) record.cosine = cosines(*request.previous, address, record.post, hidden);
  if (request.norms) {
    record.attention_norm = lengths(record.attention_out, hidden);
    record.mlp_norm = lengths(record.mlp_out, hidden);
    record.norm = lengths(record.post, hidden);
    record.peak.clear();
    record.peak_at.clear();
    for (auto at = record.post.begin(); at != record.post.end(); at += hidden) {
      const auto peak =
          std::max_element(at, at + hidden, [](float a, float b) { return std::abs(a) < std::abs(b); });
      record.peak.push_back(std::abs(*peak));
      record.peak_at.push_back(static_cast<std::int32_t>(peak - at));
    }
  }
  if (!request.post) record.post.clear();
  if (!request.attention_out) record.attention_out.clear();
  if (!request.mlp_out) record.mlp_out.clear();
}

ResidualStream::ResidualStream(std::int64_t hidden, const PackedBatch& batch,
                               std::span<const LayerObservation> observations)
    : hidden_(hidden), batch_(batch), observations_(observations) {
  for (size_t n = 0; n < observations.size(); ++n) {
    reads_ |= observations[n].request.residual.any();
    changes_ |= observations[n].change.changes_residual();
    check(n);
  }
  if (reads_) records_.resize(observations.size());
}

void ResidualStream::check(size_t n) const {
  const std::int64_t count = batch_.sequences[n].rows();
  BUOY_CHECK(are_rows_of(observations_[n].request.residual.rows, count));
  for (const auto& change : observations_[n].change.residual) {
    BUOY_CHECK(are_rows_of(change.rows, count));
    BUOY_CHECK(std::ssize(change.values) == hidden_ ||
               std::ssize(change.values) == std::ssize(change.rows) * hidden_);
  }
}

std::vector<std::int64_t> ResidualStream::rows_behind_attention() const {
  std::vector<std::int64_t> out;
  for (size_t n = 0; n < observations_.size(); ++n) {
    const ResidualRequest& request = observations_[n].request.residual;
    if (observations_[n].request.routing) {
      for (std::int64_t row = 0; row < batch_.sequences[n].rows(); ++row)
        out.push_back(batch_.first_rows[n] + row);
      continue;
    }
    if (!request.behind_attention()) continue;
    for (const auto row : request.rows) out.push_back(batch_.first_rows[n] + row);
  }
  return out;
}

bool ResidualStream::leaves_out_mlp() const {
  return changes_ && std::all_of(observations_.begin(), observations_.end(),
                                 [](const LayerObservation& one) { return one.change.mlp_scale == 0.0f; });
}

bool ResidualStream::reads_routing() const {
  return std::any_of(observations_.begin(), observations_.end(),
                     [](const LayerObservation& one) { return one.request.routing; });
}

void ResidualStream::change(ResidualPoint point, const StreamRows& rows) const {
  for (size_t n = 0; n < observations_.size(); ++n) {
    for (const auto& change : observations_[n].change.residual) {
      if (change.at != point) continue;
      const bool alike = std::ssize(change.values) == hidden_;
      for_each(batch_.first_rows[n], change.rows, rows, [&](std::int64_t i, std::int64_t j) {
        const float* from = change.values.data() + (alike ? 0 : j * hidden_);
        float* to = rows.values + i * hidden_;
        for (std::int64_t d = 0; d < hidden_; ++d) to[d] = change.replace ? from[d] : to[d] + from[d];
      });
    }
  }
}

void ResidualStream::read(Wanted wanted, Member to, const StreamRows& rows) {
  if (!reads_) return;
  for (size_t n = 0; n < observations_.size(); ++n) {
    const ResidualRequest& request = observations_[n].request.residual;
    if (!wanted(request)) continue;
    auto& values = records_[n].*to;
    values.resize(request.rows.size() * static_cast<size_t>(rows.width));
    for_each(batch_.first_rows[n], request.rows, rows, [&](std::int64_t i, std::int64_t j) {
      std::copy_n(rows.values + i * rows.width, rows.width, values.data() + j * rows.width);
    });
  }
}

void ResidualStream::pass(ResidualPoint point, const StreamRows& rows) {
  if (changes_) change(point, rows);
  switch (point) {
    case ResidualPoint::kPre:
      return read([](const ResidualRequest& r) { return r.pre; }, &ResidualRecord::pre, rows);
    case ResidualPoint::kMid:
      return read([](const ResidualRequest& r) { return r.mid; }, &ResidualRecord::mid, rows);
    case ResidualPoint::kPost:
      return read([](const ResidualRequest& r) { return r.gathers_post(); }, &ResidualRecord::post, rows);
  }
}

void ResidualStream::read_attention_out(const StreamRows& rows) {
  read([](const ResidualRequest& r) { return r.gathers_attention_out(); }, &ResidualRecord::attention_out,
       rows);
}

void ResidualStream::read_head_out(const StreamRows& rows) {
  read([](const ResidualRequest& r) { return r.head_out; }, &ResidualRecord::head_out, rows);
}

void ResidualStream::pass_mlp_out(const StreamRows& rows) {
  for (size_t n = 0; n < observations_.size() && changes_; ++n) {
    const float scale = observations_[n].change.mlp_scale;
    if (scale == 1.0f) continue;
    const std::int64_t first = batch_.first_rows[n], end = first + batch_.sequences[n].rows();
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const std::int64_t row = rows.packed_row(i);
      if (row < first || row >= end) continue;
      float* out = rows.values + i * rows.width;
      // What is left out leaves no NaN behind either.
      for (std::int64_t d = 0; d < rows.width; ++d) out[d] = scale == 0.0f ? 0.0f : out[d] * scale;
    }
  }
  read([](const ResidualRequest& r) { return r.gathers_mlp_out(); }, &ResidualRecord::mlp_out, rows);
}

ResidualRecord ResidualStream::finish(size_t n, const Lens& lens) {
  const ResidualRequest& request = observations_[n].request.residual;
  ResidualRecord record = std::move(records_[n]);
  if (request.lens > 0 && !request.rows.empty()) lens(record.post, request.lens, record);
  finish_residual(request, observations_[n].address, hidden_, record);
  return record;
}

}  // namespace buoy::model
