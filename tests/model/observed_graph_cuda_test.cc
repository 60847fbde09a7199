// Observed layers are recorded as graphs and replayed: the records are those of a model that was never asked
// before, to the bit, whatever changed between the passes.

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/tensor/lane_executor.h"
#include "model/cuda_run.h"

namespace buoy {
namespace {

using testing::Ids;
using Numbers = std::vector<std::vector<float>>;

// Asks for all that is measured on the card; every third layer for less.
class Measured final : public probe::Probe {
 public:
  explicit Measured(std::int64_t shift, bool keeps) : shift_(shift), keeps_(keeps) {}

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    probe::LayerRequest r;
    r.entropy = r.log_sum_exp = r.qk_after = r.qk_before = r.norms = r.value_norm = r.head_norm = true;
    if (address.layer % 3 == 2) return r;
    r.received = r.first_share = r.row_weights = true;
    r.top = 2;
    r.groups = 3;
    for (std::int64_t i = 0; i < extent.query_rows; ++i)
      r.group_of_row.push_back(static_cast<std::uint8_t>((i + shift_) % 4));
    r.rows = {static_cast<std::int32_t>(shift_), static_cast<std::int32_t>(extent.query_rows - 1)};
    return r;
  }
  void take(const probe::Address& address, probe::LayerRecord&& r) override {
    layers.push_back(address.layer);
    for (auto* numbers : {&r.received, &r.entropy, &r.log_sum_exp, &r.first_share, &r.row_weights,
                          &r.top_weights, &r.qk_after.dot, &r.qk_after.self_dot, &r.qk_before.dot,
                          &r.qk_before.cosine, &r.query_norm, &r.key_norm, &r.value_norm, &r.head_norm}) {
      if (keeps_) {
        found.push_back(std::move(*numbers));
      } else {
        found.push_back(*numbers);
      }
    }
    found.emplace_back(r.top_keys.begin(), r.top_keys.end());
  }

  Numbers found;
  std::vector<std::int64_t> layers;

 private:
  std::int64_t shift_;
  bool keeps_;
};

// Asks for the same, and takes each record on another thread, some time after the model has gone on. Where
// results are on their way from a device, they must not be overwritten by those of the next layers or passes.
class MeasuredLater final : public probe::Probe {
 public:
  explicit MeasuredLater(std::int64_t shift) : shift_(shift) {}

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    return Measured(shift_, false).request(address, extent);
  }
  void take(const probe::Address&, probe::LayerRecord&&) override { ++taken_at_once; }
  bool takes_later() const override { return true; }
  void take_later(const probe::Address& address, std::unique_ptr<probe::PendingRecord> record) override {
    const auto pending = std::shared_ptr<probe::PendingRecord>(std::move(record));
    executor_.post(lanes_[static_cast<size_t>(address.layer) % std::size(lanes_)],
                   [this, address, pending, delay = records_++ * 7 % 5](int) {
                     std::this_thread::sleep_for(std::chrono::milliseconds(delay));
                     Measured measured(shift_, false);
                     probe::LayerRecord record;
                     pending->fill(record);
                     measured.take(address, std::move(record));
                     const std::lock_guard lock(mutex_);
                     found_[{address.layer, address.sequence}] = std::move(measured.found);
                   });
  }

  // In the order of layers and sequences, as taken at once.
  Numbers found() {
    executor_.wait();
    Numbers all;
    for (const auto& [address, numbers] : found_) all.insert(all.end(), numbers.begin(), numbers.end());
    return all;
  }
  int taken_at_once = 0;

 private:
  std::int64_t shift_, records_ = 0;
  std::mutex mutex_;
  std::map<std::pair<std::int64_t, std::int64_t>, Numbers> found_;
  LaneExecutor::Lane lanes_[5];
  LaneExecutor executor_{4, std::uint64_t{1} << 30};
};

class ObservedGraphCuda : public ::testing::Test {
 protected:
  // 21: more layers than results are on their way at a time.
  explicit ObservedGraphCuda(std::int64_t layers = 21) : layers_(layers) {}
  void SetUp() override {
    BUOY_NEEDS_GPU();
    benchmark::write_random_checkpoint(folder_.path() / "model",
                                       {Family::kLlama, 256, layers_, 4, 2, 64, 256, 512}, 5);
    model_ = std::make_unique<model::Model>(load());
  }
  model::Model load() { return model::Model::load(folder_.path() / "model", Device::kCuda); }
  static std::vector<Ids> batch(std::int32_t seed, std::vector<std::int32_t> lengths) {
    std::vector<Ids> out;
    for (const auto length : lengths) {
      auto& ids = out.emplace_back();
      for (std::int32_t i = 0; i < length; ++i) ids.push_back((i * 31 + seed * 7 + length) % 512);
    }
    return out;
  }
  Numbers observed(model::Model& model, const std::vector<Ids>& batch, std::int64_t shift, bool keeps) {
    std::vector<model::SequenceInput> inputs;
    const Ids rows = {0};
    for (size_t n = 0; n < batch.size(); ++n)
      inputs.push_back({batch[n], rows, nullptr, {static_cast<std::int64_t>(n), 0, 0, 0}});
    Measured probe(shift, keeps);
    model.forward({threads_}, inputs, &probe);
    EXPECT_TRUE(std::is_sorted(probe.layers.begin(), probe.layers.end()));
    EXPECT_EQ(probe.layers.size(), static_cast<size_t>(layers_) * batch.size());
    return probe.found;
  }

  std::int64_t layers_;
  testing::TempFolder folder_;
  ThreadPool threads_{3};
  std::unique_ptr<model::Model> model_;
};

TEST_F(ObservedGraphCuda, RecordsOfReplaysAreThoseOfAFreshModel) {
  for (const auto& lengths : {std::vector<std::int32_t>{150}, {70, 33, 150}}) {
    for (std::int32_t pass = 0; pass < 5; ++pass) {
      model::Model fresh = load();
      const auto tokens = batch(pass, lengths);
      EXPECT_EQ(observed(*model_, tokens, pass % 2, pass == 3), observed(fresh, tokens, pass % 2, false))
          << lengths.size() << " sequences, pass " << pass;
    }
  }
  // A longer batch moves the buffers that recorded layers write to.
  model::Model fresh = load();
  const auto longer = batch(9, {1100}), before = batch(2, {150});
  EXPECT_EQ(observed(*model_, longer, 0, false), observed(fresh, longer, 0, false));
  EXPECT_EQ(observed(*model_, before, 0, false), observed(fresh, before, 0, false));
}

// Alone and packed, over several passes, each taken while the next ones run.
TEST_F(ObservedGraphCuda, RecordsTakenLaterAreThoseTakenAtOnce) {
  for (const auto& lengths : {std::vector<std::int32_t>{150}, {70, 33, 150}}) {
    std::vector<std::unique_ptr<MeasuredLater>> later;
    const Ids rows = {0};
    for (std::int32_t pass = 0; pass < 6; ++pass) {
      const auto tokens = batch(pass, lengths);
      std::vector<model::SequenceInput> inputs;
      for (size_t n = 0; n < tokens.size(); ++n)
        inputs.push_back({tokens[n], rows, nullptr, {static_cast<std::int64_t>(n), 0, 0, 0}});
      later.push_back(std::make_unique<MeasuredLater>(pass % 2));
      model_->forward({threads_}, inputs, later.back().get());
    }
    for (std::int32_t pass = 0; pass < 6; ++pass) {
      auto& probe = *later[static_cast<size_t>(pass)];
      const Numbers expected = observed(*model_, batch(pass, lengths), pass % 2, false);
      EXPECT_EQ(probe.found(), expected) << lengths.size() << " sequences, pass " << pass;
      EXPECT_EQ(probe.taken_at_once, 0);
    }
  }
}

// Small enough for racecheck.
class ObservedGraphOfFewCuda : public ObservedGraphCuda {
 protected:
  ObservedGraphOfFewCuda() : ObservedGraphCuda(3) {}
};

TEST_F(ObservedGraphOfFewCuda, RecordsOfReplaysAreThoseOfAFreshModel) {
  const auto tokens = batch(1, {40});
  model::Model fresh = load();
  const Numbers expected = observed(fresh, tokens, 0, false);
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(observed(*model_, tokens, 0, false), expected) << pass;
}

// A probe that throws leaves the model fit for use.
TEST_F(ObservedGraphCuda, AProbeThatThrows) {
  class Throws final : public probe::Probe {
   public:
    probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent&) override {
      if (address.layer == 6) throw std::runtime_error("no more");
      probe::LayerRequest r;
      r.received = true;
      return r;
    }
    void take(const probe::Address&, probe::LayerRecord&&) override {}
  };
  const auto tokens = batch(1, {90});
  const Numbers expected = observed(*model_, tokens, 0, false);
  for (int i = 0; i < 3; ++i) {
    Throws probe;
    const std::vector<model::SequenceInput> inputs = {{tokens[0], {}, nullptr, {}}};
    EXPECT_THROW(model_->forward({threads_}, inputs, &probe), std::runtime_error);
    EXPECT_EQ(observed(*model_, tokens, 0, false), expected);
  }
}

}  // namespace
}  // namespace buoy
