#include "buoy/observe/whole_rows.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "buoy/base/error.h"

namespace buoy::observe {
namespace {

// [outer, count, width] becomes [outer, all, width], what there is from `first` on.
struct Widening {
  std::int64_t count, all, first;
};

template <typename Value>
void widen_axis(std::vector<Value>& values, const Widening& axis, std::int64_t width,
                Value absent = Value{}) {
  const std::int64_t piece = axis.count * width;
  if (axis.count == axis.all || width == 0) return;
  const std::int64_t outer = piece == 0 ? 0 : std::ssize(values) / piece;
  BUOY_CHECK(outer * piece == std::ssize(values));
  std::vector<Value> out(static_cast<size_t>(outer * axis.all * width), absent);
  for (std::int64_t o = 0; o < outer; ++o) {
    std::copy_n(values.begin() + o * piece, piece, out.begin() + (o * axis.all + axis.first) * width);
  }
  values = std::move(out);
}

// The same of the outermost axis, of which there may be nothing at all; `width` 0: not asked for.
template <typename Value>
void widen_rows(std::vector<Value>& values, const Widening& rows, std::int64_t width,
                Value absent = Value{}) {
  if (width == 0 || rows.count == rows.all) return;
  BUOY_CHECK(std::ssize(values) == rows.count * width);
  std::vector<Value> out(static_cast<size_t>(rows.all * width), absent);
  std::copy(values.begin(), values.end(), out.begin() + rows.first * width);
  values = std::move(out);
}

std::shared_ptr<const KeySets> below(const KeySets& sets, std::int64_t keys) {
  auto out = std::make_shared<KeySets>();
  for (std::int64_t set = 0; set < sets.count(); ++set) {
    const auto runs = sets.of(set);
    out->add(keys, [&](std::int32_t key) {
      return std::any_of(runs.begin(), runs.end(),
                         [&](const KeySets::Run& run) { return key >= run.begin && key < run.end; });
    });
  }
  return out;
}

}  // namespace

WholeRows::WholeRows(probe::Probe& other, std::int64_t hidden, std::function<std::vector<std::int32_t>()> row)
    : ForwardingProbe(&other), hidden_(hidden), row_(std::move(row)) {}

probe::LayerExtent WholeRows::shown_extent(const probe::Address& address, const probe::LayerExtent& extent) {
  if (step_ != address.step) {
    step_ = address.step;
    tokens_ = row_();
    part_ = std::make_shared<Part>(Part{.tokens = std::ssize(tokens_),
                                        .first = extent.key_rows - extent.query_rows,
                                        .rows = extent.query_rows,
                                        .keys = extent.key_rows,
                                        .heads = extent.heads,
                                        .hidden = hidden_});
    on_its_way_ = false;
    BUOY_CHECK(part_->keys <= part_->tokens);
    BUOY_CHECK(std::equal(extent.tokens.begin(), extent.tokens.end(), tokens_.begin() + part_->first));
  }
  return {part_->tokens, part_->tokens, extent.heads, tokens_, part_->first, part_->first + part_->rows};
}

WholeRows::Part& WholeRows::part() {
  if (std::exchange(on_its_way_, false)) part_ = std::make_shared<Part>(*part_);
  return *part_;
}

WholeRows::Chosen WholeRows::cut(std::vector<std::int32_t>& rows) const {
  const auto first = std::lower_bound(rows.begin(), rows.end(), part_->first),
             end = std::lower_bound(rows.begin(), rows.end(), part_->first + part_->rows);
  const Chosen chosen{std::ssize(rows), first - rows.begin(), end - first};
  rows = {first, end};
  for (auto& row : rows) row -= static_cast<std::int32_t>(part_->first);
  return chosen;
}

probe::LayerRequest WholeRows::request(const probe::Address& address, const probe::LayerExtent& extent) {
  if (address.branch != 0) return {};
  auto r = ForwardingProbe::request(address, shown_extent(address, extent));
  if (part_->whole() || !r.any()) return r;
  if (!r.group_of_row.empty()) {
    const auto first = r.group_of_row.begin() + part_->first;
    r.group_of_row = std::vector<std::uint8_t>(first, first + part_->rows);
  }
  Part& part = this->part();
  part.close = cut(r.rows);
  part.residual = cut(r.residual.rows);
  if (r.key_sets) {
    if (sets_ != r.key_sets || cut_keys_ != part_->keys) cut_sets_ = below(*r.key_sets, part_->keys);
    sets_ = r.key_sets;
    cut_keys_ = part_->keys;
    r.key_sets = cut_sets_;
  }
  if (r.residual.previous) {
    // Another block has other rows: there is no forward before.
    if (!previous_ || previous_first_ != part_->first)
      previous_ = std::make_shared<probe::PreviousStates>(std::ssize(r.residual.previous->of_layer));
    previous_first_ = part_->first;
    r.residual.previous = previous_;
  }
  // Nothing of what is wanted may be among these rows; a record of them is expected all the same.
  if (!r.any()) r.value_norm = true;
  part.asked = r;
  return r;
}

probe::PredictionRequest WholeRows::predictions(const probe::Address& address,
                                                const probe::LayerExtent& extent) {
  if (address.branch != 0) return {};
  const auto whole = ForwardingProbe::predictions(address, shown_extent(address, extent));
  if (part_->whole() || !whole.any()) return whole;
  probe::PredictionRequest r;
  r.top = whole.top;
  Part& part = this->part();
  part.all_predicted = std::ssize(whole.rows);
  part.predicted.clear();
  for (size_t i = 0; i < whole.rows.size(); ++i) {
    if (whole.rows[i] < part_->first || whole.rows[i] >= part_->first + part_->rows) continue;
    part.predicted.push_back(static_cast<std::int64_t>(i));
    r.rows.push_back(whole.rows[i] - static_cast<std::int32_t>(part_->first));
    r.held.push_back(whole.held[i]);
  }
  if (r.rows.empty())
    r.rows = {0}, r.held = {probe::PredictionRequest::kMostProbable};  // a record is expected
  return r;
}

void WholeRows::Part::widen_close(probe::LayerRecord& record) const {
  const Widening chosen{close.count, close.all, close.first};
  const std::int64_t heads = record.states.heads, top = heads * asked.top;
  widen_rows(record.row_weights, chosen, asked.row_weights ? heads * tokens : 0);
  widen_rows(record.row_mass, chosen, asked.row_mass ? heads * asked.sets() : 0);
  widen_rows(record.top_keys, chosen, top, std::int32_t{-1});
  widen_rows(record.top_weights, chosen, top);
}

void WholeRows::Part::widen_residual(probe::LayerRecord& record) const {
  const Widening chosen{residual.count, residual.all, residual.first};
  const probe::ResidualRequest& wish = asked.residual;
  probe::ResidualRecord& r = record.residual;
  const auto states = [&](std::vector<float>& values, bool wanted) {
    widen_rows(values, chosen, wanted ? hidden : 0);
  };
  states(r.pre, wish.pre);
  states(r.attention_out, wish.attention_out);
  states(r.mid, wish.mid);
  states(r.mlp_out, wish.mlp_out);
  states(r.post, wish.post);
  widen_rows(r.head_out, chosen, wish.head_out ? record.states.heads * record.states.head_dim : 0);
  widen_rows(r.lens_tokens, chosen, wish.lens);
  widen_rows(r.lens_probabilities, chosen, wish.lens);
  for (auto* values : {&r.attention_norm, &r.mlp_norm, &r.norm, &r.peak})
    widen_rows(*values, chosen, wish.norms ? 1 : 0);
  widen_rows(r.peak_at, chosen, wish.norms ? 1 : 0);
  widen_rows(r.cosine, chosen, wish.previous ? 1 : 0);
}

void WholeRows::Part::widen_routing(probe::RoutingRecord& record) const {
  if (record.experts.empty()) return;
  const Widening along{rows, tokens, first};
  const std::int64_t chosen = std::ssize(record.experts) / rows;
  widen_rows(record.experts, along, chosen, std::int32_t{-1});
  widen_rows(record.weights, along, chosen);
  widen_rows(record.entropy, along, 1);
}

void WholeRows::Part::widen(probe::PredictionRecord& record) const {
  const auto spread = [&](auto& values, auto absent) {
    if (values.empty()) return;
    const auto width = std::ssize(values) / std::max<std::int64_t>(1, std::ssize(predicted));
    std::remove_reference_t<decltype(values)> out(static_cast<size_t>(all_predicted * width), absent);
    for (size_t i = 0; i < predicted.size(); ++i) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i) * width, width,
                  out.begin() + predicted[i] * width);
    }
    values = std::move(out);
  };
  for (auto* values : {&record.confidence, &record.entropy, &record.margin, &record.top_probabilities})
    spread(*values, 0.0f);
  spread(record.top_tokens, std::int32_t{-1});
}

void WholeRows::widen_states(probe::LayerStates& states) {
  const auto copy = [&](const float*& from, std::vector<float>& to, std::int64_t rows, std::int64_t first,
                        std::int64_t width) {
    if (from == nullptr) return;
    to.assign(static_cast<size_t>(part_->tokens * width), 0.0f);
    std::copy_n(from, rows * width, to.begin() + first * width);
    from = to.data();
  };
  copy(states.queries, queries_, part_->rows, part_->first, states.heads * states.head_dim);
  copy(states.keys, keys_, part_->keys, 0, states.kv_heads * states.head_dim);
  copy(states.values, values_, part_->keys, 0, states.kv_heads * states.head_dim);
  states.query_rows = states.key_rows = part_->tokens;
  states.first_position = 0;
}

void WholeRows::Part::widen(probe::LayerRecord& record) const {
  const Widening queries{rows, tokens, first}, along{keys, tokens, 0};
  for (auto* values : {&record.received, &record.followed, &record.row_weights, &record.qk_after.dot,
                       &record.qk_after.cosine, &record.qk_after.norm_product, &record.qk_after.self_dot,
                       &record.qk_before.dot, &record.qk_before.cosine, &record.qk_before.norm_product,
                       &record.qk_before.self_dot, &record.key_norm, &record.value_norm, &record.key_cosine,
                       &record.value_cosine, &record.dense, &record.dense_mean})
    widen_axis(*values, along, 1);
  for (auto* values :
       {&record.entropy, &record.log_sum_exp, &record.first_share, &record.query_norm, &record.head_norm})
    widen_axis(*values, queries, 1);
  for (auto* values : {&record.dense, &record.dense_mean}) widen_axis(*values, queries, tokens);
  widen_close(record);
  widen_residual(record);
  widen_routing(record.routing);
}

// Most of it is as long as the keys; numbers of rows are added.
std::uint64_t WholeRows::Part::widened_bytes(std::uint64_t bytes) const {
  const std::int64_t of_rows = asked.entropy + asked.log_sum_exp + asked.first_share + asked.norms +
                               asked.head_norm + (asked.row_weights ? close.all - close.count : 0);
  return bytes * static_cast<std::uint64_t>(tokens) / static_cast<std::uint64_t>(keys) +
         static_cast<std::uint64_t>(of_rows * heads * tokens) * sizeof(float);
}

class WholeRows::Widened final : public probe::PendingRecord {
 public:
  Widened(std::unique_ptr<probe::PendingRecord> part_of_it, std::shared_ptr<const Part> part)
      : pending_(std::move(part_of_it)), part_(std::move(part)) {}

  void fill(probe::LayerRecord& record) override {
    pending_->fill(record);
    part_->widen(record);
    record.states.query_rows = record.states.key_rows = part_->tokens;
    record.states.first_position = 0;
  }
  std::uint64_t bytes() const override { return part_->widened_bytes(pending_->bytes()); }

 private:
  std::unique_ptr<probe::PendingRecord> pending_;
  std::shared_ptr<const Part> part_;
};

void WholeRows::take(const probe::Address& address, probe::LayerRecord&& record) {
  if (!part_->whole()) {
    if (address.layer == probe::kWholeForward) {
      part_->widen(record.predictions);
    } else {
      part_->widen(record);
      widen_states(record.states);
    }
  }
  ForwardingProbe::take(address, std::move(record));
}

void WholeRows::take_later(const probe::Address& address, std::unique_ptr<probe::PendingRecord> record) {
  if (!part_->whole()) {
    on_its_way_ = true;
    record = std::make_unique<Widened>(std::move(record), part_);
  }
  ForwardingProbe::take_later(address, std::move(record));
}

}  // namespace buoy::observe
