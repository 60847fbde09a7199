// A probe that changes the model: hides the first token from every layer, and measures where its attention
// goes.
//   custom_probe MODEL_FOLDER TEXT

#include <buoy/buoy.h>

#include <cstdio>
#include <limits>
#include <numeric>

using namespace buoy;

class FirstTokenProbe : public probe::Probe {
 public:
  explicit FirstTokenProbe(bool hide) : hide_(hide) {}

  // Called for every sequence and layer of a forward. What is not asked for costs nothing.
  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    return {.entropy = true, .first_share = true};
  }

  // What is added to the scores before the softmax, for every key: minus infinity hides it, log(x) multiplies
  // its weight by x. The memory must last until the forward is over, so it belongs to the probe.
  probe::Change change(const probe::Address&, const probe::LayerExtent& extent) override {
    if (!hide_) return {};
    bias_.assign(static_cast<size_t>(extent.key_rows), 0.0F);
    bias_[0] = -std::numeric_limits<float>::infinity();
    return {.key_bias = bias_, .head_scale = {}};
  }

  // What was measured: [heads, queries] of both.
  void take(const probe::Address&, probe::LayerRecord&& record) override {
    entropy_.push_back(mean(record.entropy));
    first_share_.push_back(mean(record.first_share));
  }

  // By layer.
  const std::vector<double>& entropy() const { return entropy_; }
  const std::vector<double>& first_share() const { return first_share_; }

 private:
  static double mean(const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }

  bool hide_;
  std::vector<float> bias_;
  std::vector<double> entropy_, first_share_;
};

int main(int argc, char** argv) try {
  if (argc != 3) throw UsageError("expected: custom_probe MODEL_FOLDER TEXT");
  auto [model, tokenizer] = run::load_model(argv[1]);
  const auto tokens = run::need_tokenizer(tokenizer, argv[1]).encode(argv[2], true).ids;
  // In a causal model the first query sees the first token alone: hidden from it, nothing would be left.
  if (!is_masked_diffusion(model.config().family)) throw UsageError("expected a masked-diffusion model");

  ThreadPool threads(available_threads());
  const model::SequenceInput input{.tokens = tokens};
  FirstTokenProbe plain(false), hidden(true);
  for (auto* probe : {&plain, &hidden}) model.forward({threads}, {&input, 1}, probe);

  std::printf("layer  on the first token      entropy  with it hidden\n");
  for (size_t layer = 0; layer < plain.entropy().size(); ++layer) {
    std::printf("%5zu  %4.1f%%, hidden %4.1f%%  %7.3f nats    %7.3f nats\n", layer,
                100 * plain.first_share()[layer], 100 * hidden.first_share()[layer], plain.entropy()[layer],
                hidden.entropy()[layer]);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
