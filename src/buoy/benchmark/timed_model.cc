#include "buoy/benchmark/timed_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/progress.h"
#include "buoy/benchmark/peak_memory.h"
#include "buoy/model/device/device_pass.h"
#include "buoy/model/model.h"

namespace buoy::benchmark {
namespace {

namespace fs = std::filesystem;

// Weights and passes through the mapped file, as every command on the CPU.
class OnCpu final : public TimedModel {
 public:
  explicit OnCpu(const fs::path& folder) : model_(model::Model::load(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".safetensors") weight_bytes_ += entry.file_size();
    }
  }

  const ModelConfig& config() const override { return model_.config(); }
  void step(const Context& context, std::span<const model::SequenceInput> inputs,
            probe::Probe* probe) override {
    model_.forward(context, inputs, probe);
  }
  std::uint64_t weight_bytes() const override { return weight_bytes_; }
  model::KvCache new_cache() const override { return model_.new_cache(); }
  std::uint64_t extra_bytes(const Context& context, std::span<const model::SequenceInput> inputs,
                            probe::Probe* probe) override {
    const std::uint64_t held = held_bytes();
    return held + peak_extra_bytes([&] { step(context, inputs, probe); });
  }

 private:
  model::Model model_;
  std::uint64_t weight_bytes_ = 0;
};

class OnGpu final : public TimedModel {
 public:
  OnGpu(ModelConfig config, model::DeviceWeights weights, int timed_candidates)
      : config_(std::move(config)), pass_(config_, std::move(weights), timed_candidates) {}

  const ModelConfig& config() const override { return config_; }
  void step(const Context& context, std::span<const model::SequenceInput> inputs,
            probe::Probe* probe) override {
    size_t rows = 0;
    for (const auto& input : inputs) rows += input.logit_rows.size();
    rules_.resize(rows);
    pass_.choices(context, inputs, rules_, probe);
  }
  std::uint64_t weight_bytes() const override { return pass_.weight_bytes(); }
  model::KvCache new_cache() const override { return pass_.new_cache(); }
  std::uint64_t extra_bytes(const Context&, std::span<const model::SequenceInput>, probe::Probe*) override {
    return pass_.workspace_bytes();
  }

 private:
  ModelConfig config_;
  model::DevicePass pass_;
  std::vector<ops::ChoiceRule> rules_;
};

// A checkpoint in the folder for temporary files for as long as it takes to map it.
class TemporaryCheckpoint {
 public:
  explicit TemporaryCheckpoint(const ShapeOfModel& shape)
      : folder_(fs::temp_directory_path() / fmt::format("buoy-bench-{}", ::getpid())) {
    const std::uint64_t needed = random_checkpoint_bytes(shape),
                        free = fs::space(folder_.parent_path()).available;
    if (needed > free) {
      throw IoError(fmt::format("{}: expected {} free for random weights, found {}",
                                folder_.parent_path().string(), describe_bytes(needed),
                                describe_bytes(free)));
    }
    write_random_checkpoint(folder_, shape, 1);
  }
  ~TemporaryCheckpoint() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  TemporaryCheckpoint(const TemporaryCheckpoint&) = delete;
  TemporaryCheckpoint& operator=(const TemporaryCheckpoint&) = delete;

  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

}  // namespace

std::unique_ptr<TimedModel> open_model(const fs::path& folder, Device device) {
  if (device == Device::kCpu) return std::make_unique<OnCpu>(folder);
  Checkpoint checkpoint = Checkpoint::open(folder);
  const model::ModelWeights weights =
      model::load_weights(checkpoint, model::traits_of(checkpoint.config().family));
  return std::make_unique<OnGpu>(checkpoint.config(),
                                 model::DeviceWeights::load(checkpoint.config(), weights), 0);
}

std::unique_ptr<TimedModel> random_model(const ShapeOfModel& shape, Device device, int timed_candidates) {
  if (device == Device::kCpu) return std::make_unique<OnCpu>(TemporaryCheckpoint(shape).folder());
  const ModelConfig config = config_of(shape);
  const auto traits = model::traits_of(config.family);
  const model::OptionalWeights optional{traits.qkv_bias, !traits.layer.query_norm.empty()};
  return std::make_unique<OnGpu>(config, model::DeviceWeights::random(config, optional, 1), timed_candidates);
}

}  // namespace buoy::benchmark
