#include "buoy/model/untrained.h"

#include <cmath>
#include <span>

#include "buoy/tensor/normal_numbers.h"

namespace buoy::model {
namespace {

class Maker {
 public:
  Maker(const ModelConfig& config, const FamilyTraits& traits, const Initialisation& how)
      : config_(config), traits_(traits), how_(how) {}

  UntrainedWeights run() {
    const ModelConfig& c = config_;
    ModelWeights& weights = out_.weights;
    weights.embedding = matrix(c.vocabulary, c.hidden, of_embedding());
    for (std::int64_t i = 0; i < c.layers; ++i) weights.layers.push_back(layer(i));
    weights.head = c.tied_head ? weights.embedding : matrix(c.vocabulary, c.hidden, of_inputs(c.hidden));
    weights.final_norm = ones(c.hidden);
    return std::move(out_);
  }

 private:
  static std::vector<float> ones(std::int64_t size) {
    return std::vector<float>(static_cast<std::size_t>(size), 1.0f);
  }

  double of_inputs(std::int64_t inputs) const {
    return how_.scheme == InitialScheme::kStated ? how_.deviation
                                                 : 1 / std::sqrt(static_cast<double>(inputs));
  }
  double of_embedding() const {
    return how_.scheme == InitialScheme::kFanIn ? 1.0 : of_inputs(config_.hidden);
  }
  // Of what a layer adds to the residual stream.
  double of_addend(std::int64_t inputs, std::int64_t layer) const {
    if (how_.scheme == InitialScheme::kStated) return how_.deviation;
    const std::int64_t layers = how_.scheme == InitialScheme::kMitchell ? layer + 1 : config_.layers;
    return of_inputs(inputs) / std::sqrt(2.0 * static_cast<double>(layers));
  }

  // Every tensor has numbers of its own, whatever was made before it.
  Weight matrix(std::int64_t outputs, std::int64_t inputs, double deviation) {
    constexpr std::uint64_t kApart = std::uint64_t{1} << 40;  // numbers of one tensor, at most
    const auto count = static_cast<std::size_t>(outputs * inputs);
    auto& memory = out_.storage.emplace_back(count * size_of(kMadeType));
    const std::span values(reinterpret_cast<std::uint16_t*>(memory.data()), count);
    NormalNumbers(mixed(how_.seed) + 0x9E3779B97F4A7C15 * kApart * out_.storage.size())
        .fill(values, deviation);
    return {memory.data(), kMadeType, {outputs, inputs}};
  }

  // Neighbouring seeds begin far from each other.
  static std::uint64_t mixed(std::uint64_t seed) {
    std::uint64_t z = seed * 0xD1342543DE82EF95 + 0x2545F4914F6CDD1D;
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93;
    return z ^ (z >> 32);
  }

  ops::ExpertWeights mlp(std::int64_t width, std::int64_t layer) {
    const std::int64_t hidden = config_.hidden;
    ops::ExpertWeights out;
    out.gate = matrix(width, hidden, of_inputs(hidden));
    out.up = matrix(width, hidden, of_inputs(hidden));
    out.down = matrix(hidden, width, of_addend(width, layer));
    return out;
  }

  MixtureWeights mixture(std::int64_t layer) {
    const ExpertConfig& experts = *config_.experts;
    MixtureWeights out;
    out.router = matrix(experts.count, config_.hidden, of_inputs(config_.hidden));
    if (experts.bias) out.bias.assign(static_cast<std::size_t>(experts.count), 0.0f);
    for (std::int64_t e = 0; e < experts.count; ++e) out.experts.push_back(mlp(experts.width, layer));
    return out;
  }

  LayerWeights layer(std::int64_t number) {
    const ModelConfig& c = config_;
    const std::int64_t queries = c.heads * c.head_dim, keys = c.kv_heads * c.head_dim;
    LayerWeights out;
    out.attention_norm = ones(c.hidden);
    out.mlp_norm = ones(c.hidden);
    out.query = matrix(queries, c.hidden, of_inputs(c.hidden));
    out.key = matrix(keys, c.hidden, of_inputs(c.hidden));
    out.value = matrix(keys, c.hidden, of_inputs(c.hidden));
    out.attention_out = matrix(c.hidden, queries, of_addend(queries, number));
    const std::int64_t width = is_mixture(c, number) ? c.experts->shared_width : c.mlp_hidden;
    if (width > 0) {
      const auto plain = mlp(width, number);
      out.gate = plain.gate, out.up = plain.up, out.down = plain.down;
    }
    if (is_mixture(c, number)) out.mixture = mixture(number);
    if (traits_.qkv_bias) {
      out.query_bias.assign(static_cast<std::size_t>(queries), 0.0f);
      out.key_bias.assign(static_cast<std::size_t>(keys), 0.0f);
      out.value_bias.assign(static_cast<std::size_t>(keys), 0.0f);
    }
    if (!traits_.layer.query_norm.empty()) out.query_norm = out.key_norm = ones(c.head_dim);
    return out;
  }

  const ModelConfig& config_;
  const FamilyTraits& traits_;
  const Initialisation& how_;
  UntrainedWeights out_;
};

}  // namespace

UntrainedWeights make_untrained(const ModelConfig& config, const FamilyTraits& traits,
                                const Initialisation& how) {
  return Maker(config, traits, how).run();
}

}  // namespace buoy::model
