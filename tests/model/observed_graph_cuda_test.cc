// Observed layers are recorded as graphs and replayed: the records are those of a model that was never asked
// before, to the bit, whatever changed between the passes.

#include <gtest/gtest.h>

#include "buoy/benchmark/random_checkpoint.h"
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
    r.entropy = r.log_sum_exp = r.qk_after = r.qk_before = r.norms = r.value_norm = true;
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
                          &r.qk_before.cosine, &r.query_norm, &r.key_norm, &r.value_norm}) {
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
