#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "buoy/checkpoint/config.h"
#include "buoy/model/model.h"
#include "buoy/probe/probe.h"
#include "device_array.h"

namespace buoy::python {

// What one forward over a row passes through, by the names of TransformerLens: pattern, resid_pre, resid_mid,
// resid_post, attn_out, mlp_out, z, result, rot_q, rot_k, v. Only what is named is computed and kept.
class CachedActivations final : public probe::Probe {
 public:
  using Wanted = std::map<std::string, std::vector<std::int64_t>>;  // layers by name
  struct Kept {
    std::vector<float> values;
    std::vector<std::int64_t> shape;
    std::shared_ptr<DeviceArray> on_card = nullptr;  // the same numbers, of a model on a card that has room
  };
  using Arrays = std::map<std::pair<std::string, std::int64_t>, Kept>;

  // UsageError for a name or a layer there is none of.
  CachedActivations(const Wanted& wanted, const ModelConfig& config);

  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override;
  void take(const probe::Address& address, probe::LayerRecord&& record) override;
  // When the forward is over: what heads add to the stream, by the output projection.
  void finish(const Context& context, model::Model& model);
  Arrays& arrays() { return arrays_; }

 private:
  bool wants(const char* name, std::int64_t layer) const;
  void keep(const char* name, std::int64_t layer, std::vector<float>&& values,
            std::vector<std::int64_t> shape, const float* on_device = nullptr);

  Wanted wanted_;
  const ModelConfig& config_;
  Arrays arrays_;
};

}  // namespace buoy::python
