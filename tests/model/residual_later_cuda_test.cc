// The residual stream on its ways from the GPU: at once, later, where it lies; rows that differ from layer to
// layer; what is refused.

#include <gtest/gtest.h>

#include <limits>

#include "buoy/base/error.h"
#include "buoy/probe/forwarding.h"
#include "buoy/tensor/device_memory.h"
#include "model/cuda_run.h"
#include "model/residual_probe.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::all_rows;
using testing::CudaRun;
using testing::fails_with;
using testing::Ids;
using testing::ResidualProbe;

// Keeps records that are on their way until somebody lets them arrive.
class Later final : public probe::ForwardingProbe {
 public:
  using ForwardingProbe::ForwardingProbe;

  bool takes_later() const override { return true; }
  void take_later(const probe::Address& address, std::unique_ptr<probe::PendingRecord> record) override {
    pending_.emplace_back(address, std::move(record));
  }
  std::size_t arrive() {
    for (auto& [address, pending] : pending_) {
      probe::LayerRecord record;
      pending->fill(record);
      EXPECT_EQ(record.residual.on_device.post, nullptr);
      take(address, std::move(record));
    }
    return pending_.size();
  }

 private:
  std::vector<std::pair<probe::Address, std::unique_ptr<probe::PendingRecord>>> pending_;
};

// Asks for other rows in every layer.
class OtherRows final : public probe::ForwardingProbe {
 public:
  using ForwardingProbe::ForwardingProbe;

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    auto out = ForwardingProbe::request(address, extent);
    out.residual.rows = rows(address.layer);
    return out;
  }
  static Ids rows(std::int64_t layer) {
    Ids out = {static_cast<std::int32_t>(layer), static_cast<std::int32_t>(20 + layer)};
    if (layer % 2 == 1) out.push_back(39);
    return out;
  }
};

// Copies what lies on the device while it may.
class FromDevice final : public probe::ForwardingProbe {
 public:
  using ForwardingProbe::ForwardingProbe;

  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    const auto& residual = record.residual;
    const auto& [pre, mid, post] = residual.on_device;
    for (const auto& [there, here] :
         {std::pair{pre, &residual.pre}, {mid, &residual.mid}, {post, &residual.post}}) {
      ASSERT_NE(there, nullptr);
      std::vector<float> copy(here->size());
      const Stream stream;
      copy_to_host(stream, copy.data(), there, copy.size() * sizeof(float));
      stream.synchronize();
      EXPECT_EQ(copy, *here) << "sequence " << address.sequence << ", layer " << address.layer;
    }
    ++seen;
    ForwardingProbe::take(address, std::move(record));
  }
  int seen = 0;
};

class ResidualLaterCuda : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    run_ = std::make_unique<CudaRun>(GetParam());
  }
  Ids ids(std::int64_t count, std::uint64_t seed) { return run_->cpu().random_ids(count, seed); }
  std::int64_t layers() { return run_->model().config().layers; }

  static void expect_same(const ResidualProbe& found, const ResidualProbe& expected) {
    ASSERT_EQ(found.seen.size(), expected.seen.size());
    for (const auto& [address, one] : expected.seen) {
      const auto& other = found.seen.at(address);
      EXPECT_EQ(other.pre, one.pre);
      EXPECT_EQ(other.mid, one.mid);
      EXPECT_EQ(other.post, one.post);
      EXPECT_EQ(other.attention_out, one.attention_out);
      EXPECT_EQ(other.mlp_out, one.mlp_out);
      EXPECT_EQ(other.head_out, one.head_out);
      EXPECT_EQ(other.norm, one.norm);
      EXPECT_EQ(other.lens_tokens, one.lens_tokens);
      EXPECT_EQ(other.lens_probabilities, one.lens_probabilities);
    }
  }

  std::unique_ptr<CudaRun> run_;
};

TEST_P(ResidualLaterCuda, TakenLaterItIsTheSame) {
  const Ids tokens = ids(80, 4);
  ResidualProbe at_once, afterwards;
  for (ResidualProbe* probe : {&at_once, &afterwards}) {
    probe->want_everything({0, 7, 79}, 4);
    probe->wanted.norms = true;
  }
  for (int pass = 0; pass < 3; ++pass) {  // queued, recorded, replayed
    Later later(&afterwards);
    run_->forward(tokens, nullptr, &at_once);
    run_->forward(tokens, nullptr, &later);
    run_->forward(ids(80, 5));  // what lies on the device is something else by now
    EXPECT_EQ(static_cast<std::int64_t>(later.arrive()), layers());
    expect_same(afterwards, at_once);
  }
}

// As a pass in which all these rows are asked for everywhere shows them.
TEST_P(ResidualLaterCuda, OtherRowsInEveryLayer) {
  const Ids tokens = ids(40, 6);
  ResidualProbe every, some;
  every.want_everything(all_rows(tokens.size()), 3);
  some.want_everything({}, 3);
  const auto hidden = run_->model().config().hidden;
  for (int pass = 0; pass < 3; ++pass) {
    OtherRows other(&some);
    run_->forward(tokens, nullptr, &every);
    run_->forward(tokens, nullptr, &other);
    for (std::int64_t layer = 0; layer < layers(); ++layer) {
      const Ids rows = OtherRows::rows(layer);
      ASSERT_EQ(some.layer(layer).lens_tokens.size(), 3 * rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto from = every.layer(layer).post.begin() + rows[i] * hidden;
        const std::vector<float> expected(from, from + hidden);
        const auto at = some.layer(layer).post.begin() + static_cast<std::ptrdiff_t>(i) * hidden;
        EXPECT_EQ(std::vector<float>(at, at + hidden), expected) << "layer " << layer << ", row " << rows[i];
      }
    }
  }
}

TEST_P(ResidualLaterCuda, LiesOnTheDeviceWhileItIsTaken) {
  const Ids first = ids(50, 9), second = ids(60, 10), rows1 = all_rows(first.size()), none;
  ResidualProbe probe;
  probe.want_everything({0, 20, 49});
  FromDevice copying(&probe);
  const std::vector<model::SequenceInput> batch = {{first, rows1, nullptr, {0, 0, 0, 0}},
                                                   {second, none, nullptr, {1, 0, 0, 0}}};
  for (int pass = 0; pass < 3; ++pass) run_->forward(batch, &copying);
  EXPECT_EQ(copying.seen, 3 * 2 * layers());
}

// Nothing but the lens sees what is behind the last layer when no logits are wanted.
TEST_P(ResidualLaterCuda, ALensOfNoNumberIsRefused) {
  const Ids tokens = ids(20, 3);
  ResidualProbe probe;
  probe.wanted.rows = {4};
  probe.wanted.lens = 2;
  const std::vector<model::SequenceInput> input = {{tokens, {}, nullptr}};
  run_->forward(input, &probe);
  std::vector<float> values(static_cast<size_t>(run_->model().config().hidden), 1.0f);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  probe.changes[layers() - 1].residual = {{{4}, values, probe::ResidualPoint::kPost, true}};
  for (const bool on_gpu : {false, true}) {
    EXPECT_TRUE(
        fails_with<Error>([&] { on_gpu ? run_->forward(input, &probe) : run_->cpu().forward(input, &probe); },
                          {"the logits of the lens"}));
  }
  probe.changes.clear();
  run_->forward(input, &probe);  // and goes on
}

TEST_P(ResidualLaterCuda, RowsThatComeTwiceAreRefused) {
  const Ids tokens = ids(20, 3);
  ResidualProbe probe;
  probe.want_everything({4, 4});
  EXPECT_THROW(run_->forward(tokens, nullptr, &probe), InternalError);
  probe.want_everything({4});
  probe.changes[0].residual = {{{2, 2},
                                std::vector<float>(static_cast<size_t>(run_->model().config().hidden)),
                                probe::ResidualPoint::kPost}};
  EXPECT_THROW(run_->forward(tokens, nullptr, &probe), InternalError);
}

INSTANTIATE_TEST_SUITE_P(Goldens, ResidualLaterCuda, ::testing::ValuesIn(testing::golden_cases()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
