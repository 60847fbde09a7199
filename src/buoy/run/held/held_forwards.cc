#include "buoy/run/held/held_forwards.h"

#include <algorithm>
#include <utility>

#include "buoy/base/error.h"

namespace buoy::run {
namespace {

// Asks what a layout says, whatever the step.
class AskingAlways final : public probe::Probe {
 public:
  explicit AskingAlways(observe::RecordLayout layout) : layout_(std::move(layout)) {}

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    if (!layout_.observes(address)) return {};
    if (step_ != address.step) asked_ = layout_.request(extent, sets_);
    step_ = address.step;
    return asked_;
  }
  probe::PredictionRequest predictions(const probe::Address& address,
                                       const probe::LayerExtent& extent) override {
    return layout_.observes(address) ? layout_.predictions(extent.tokens) : probe::PredictionRequest{};
  }
  void take(const probe::Address& /*address*/, probe::LayerRecord&& /*record*/) override {}

 private:
  const observe::RecordLayout layout_;
  observe::SetsOfEnd sets_;
  std::int64_t step_ = -1;
  probe::LayerRequest asked_;  // of every layer of that forward
};

std::vector<std::int32_t> of_length(std::vector<std::int32_t> row, std::int64_t tokens, std::int32_t mask) {
  row.resize(static_cast<std::size_t>(tokens), mask);
  return row;
}

observe::Plan of_all_steps(observe::Plan plan) {
  plan.steps = {};
  return plan;
}

}  // namespace

probe::LayerExtent HeldForwards::Forward::extent() const {
  const auto first = static_cast<std::size_t>(key_rows - query_rows);
  return {query_rows, key_rows, heads, std::span(row).subspan(first, static_cast<std::size_t>(query_rows))};
}

HeldForwards::HeldForwards(observe::Plan plan, const observe::Subject& longest,
                           const decode::StepMachine& machine, const std::filesystem::path& folder)
    : plan_(of_all_steps(plan)),
      steps_(std::move(plan.steps)),
      machine_(machine),
      hidden_(longest.hidden),
      mask_(longest.mask_token),
      notes_(machine),
      asking_(std::make_unique<AskingAlways>(observe::RecordLayout(plan_, longest))),
      whole_(*asking_, hidden_,
             [this, tokens = longest.tokens] {
               BUOY_CHECK(std::ssize(machine_.row()) <= tokens);
               return of_length(machine_.row(), tokens, mask_);
             }),
      records_(folder) {}

HeldForwards::Forward& HeldForwards::note(const probe::Address& address, const probe::LayerExtent& extent) {
  if (forwards_.empty() || forwards_.back().address.step != address.step)
    forwards_.push_back({address, extent.query_rows, extent.key_rows, extent.heads, machine_.row()});
  return forwards_.back();
}

probe::LayerRequest HeldForwards::request(const probe::Address& address, const probe::LayerExtent& extent) {
  if (address.branch != 0) return {};
  notes_.runs(address.step, extent);
  if (!steps_.contains(address.step)) return {};
  auto r = whole_.request(address, extent);
  if (!r.any()) return r;
  Forward& forward = note(address, extent);
  forward.group_of_row = r.group_of_row;
  forward.rows = r.rows;
  forward.residual_rows = r.residual.rows;
  if (r.residual.previous) previous_ = r.residual.previous;
  if (r.previous_keys) previous_keys_ = r.previous_keys;
  return r;
}

probe::PredictionRequest HeldForwards::predictions(const probe::Address& address,
                                                   const probe::LayerExtent& extent) {
  if (address.branch != 0) return {};
  notes_.runs(address.step, extent);
  if (!steps_.contains(address.step)) return {};
  auto r = whole_.predictions(address, extent);
  if (!r.any()) return r;
  Forward& forward = note(address, extent);
  forward.predicts = true;
  forward.predicted = r.rows;
  return r;
}

void HeldForwards::take(const probe::Address& address, probe::LayerRecord&& record) {
  BUOY_CHECK(!forwards_.empty() && forwards_.back().address.step == address.step);
  held_.push_back({forwards_.size() - 1, address.layer});
  records_.put(std::move(record));
}

bool HeldForwards::fits(const observe::Subject& subject) const {
  AskingAlways asking(observe::RecordLayout(plan_, subject));
  const Forward* forward = nullptr;
  observe::WholeRows whole(asking, hidden_, [&] { return of_length(forward->row, subject.tokens, mask_); });
  const Forward* asked = nullptr;  // about its first layer: the others are asked the same
  for (const auto& one : held_) {
    forward = &forwards_[one.forward];
    auto address = forward->address;
    address.layer = one.layer;
    if (one.layer == probe::kWholeForward) {
      if (whole.predictions(address, forward->extent()).rows != forward->predicted) return false;
      continue;
    }
    if (std::exchange(asked, forward) == forward) continue;
    const auto r = whole.request(address, forward->extent());
    if (r.group_of_row != forward->group_of_row || r.rows != forward->rows ||
        r.residual.rows != forward->residual_rows)
      return false;
  }
  return true;
}

void HeldForwards::hand_on(const observe::Subject& subject, probe::Probe& to) {
  const Forward* forward = nullptr;
  observe::WholeRows whole(to, hidden_, [&] { return of_length(forward->row, subject.tokens, mask_); });
  probe::LayerRecord record;
  for (const auto& one : std::exchange(held_, {})) {
    const bool is_new = forward != &forwards_[one.forward];
    forward = &forwards_[one.forward];
    auto address = forward->address;
    if (is_new && forward->predicts) {
      address.layer = probe::kWholeForward;
      whole.predictions(address, forward->extent());
    }
    address.layer = one.layer;
    if (one.layer != probe::kWholeForward) whole.request(address, forward->extent());
    records_.take(record);
    whole.take(address, std::move(record));
  }
}

void HeldForwards::go_on(const observe::Subject& subject, probe::LayerRequest& request) const {
  if (request.previous_keys && previous_keys_) request.previous_keys = previous_keys_;
  // States are compared with those of the same rows: of a row that ran as a whole.
  if (!request.residual.previous || !previous_ || forwards_.empty()) return;
  if (forwards_.back().query_rows == subject.tokens) request.residual.previous = previous_;
}

}  // namespace buoy::run
