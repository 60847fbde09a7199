#pragma once

#include "checkpoint/config.h"

namespace buoy::bench {

// The released LLaDA-8B as a config, for passes without a checkpoint.
inline ModelConfig llada_8b_config() {
  ModelConfig c;
  c.family = Family::kLlada;
  c.hidden = 4096;
  c.layers = 32;
  c.heads = c.kv_heads = 32;
  c.head_dim = 128;
  c.mlp_hidden = 12288;
  c.vocabulary = 126464;
  c.context = 4096;
  c.norm_eps = 1e-5;
  c.rope.theta = 500000;
  c.rope.rotary_dim = c.head_dim;
  return c;
}

}  // namespace buoy::bench
