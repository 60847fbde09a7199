#include "checkpoint/published_configs.h"

namespace buoy::testing {

Json llada_8b() {
  return parse_json(R"({
      "architectures": ["LLaDAModelLM"], "model_type": "llada",
      "d_model": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 32,
      "mlp_hidden_size": 12288, "mlp_ratio": 4, "vocab_size": 126464, "embedding_size": 126464,
      "max_sequence_length": 4096, "rope": true, "rope_theta": 500000.0, "rope_full_precision": true,
      "alibi": false, "alibi_bias_max": 8.0, "layer_norm_type": "rms", "rms_norm_eps": 1e-05,
      "layer_norm_with_affine": true, "bias_for_layer_norm": false, "attention_layer_norm": false,
      "attention_layer_norm_with_affine": true, "activation_type": "silu", "block_type": "llama",
      "block_group_size": 1, "include_bias": false, "include_qkv_bias": false, "weight_tying": false,
      "scale_logits": false, "input_emb_norm": false, "multi_query_attention": null,
      "mask_token_id": 126336, "eos_token_id": 126081, "pad_token_id": 126081,
      "flash_attention": false, "use_cache": false, "attention_dropout": 0.0, "embedding_dropout": 0.0,
      "residual_dropout": 0.0, "precision": "amp_bf16", "init_device": "meta", "init_fn": "mitchell",
      "init_std": 0.02, "init_cutoff_factor": null, "transformers_version": "4.46.3"})",
                    "published");
}

Json dream_7b() {
  return parse_json(R"({
      "architectures": ["DreamModel"], "model_type": "Dream",
      "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
      "num_attention_heads": 28, "num_key_value_heads": 4, "hidden_act": "silu", "vocab_size": 152064,
      "max_position_embeddings": 131072, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
      "rope_scaling": null, "sliding_window": null, "use_sliding_window": false, "max_window_layers": 28,
      "use_mrope": false, "tie_word_embeddings": false, "attention_dropout": 0.0,
      "initializer_range": 0.02, "bos_token_id": 151643, "eos_token_id": 151643, "pad_token_id": 151643,
      "mask_token_id": 151666, "torch_dtype": "bfloat16", "use_cache": true,
      "transformers_version": "4.46.2"})",
                    "published");
}

Json llama3_8b() {
  return parse_json(R"({
      "architectures": ["LlamaForCausalLM"], "model_type": "llama",
      "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "rms_norm_eps": 1e-05,
      "rope_theta": 500000.0, "rope_scaling": null, "max_position_embeddings": 8192,
      "attention_bias": false, "tie_word_embeddings": false, "bos_token_id": 128000,
      "eos_token_id": 128001, "pretraining_tp": 1, "hidden_act": "silu", "torch_dtype": "bfloat16"})",
                    "published");
}

Json llama31_8b_instruct() {
  Json config = llama3_8b();
  config.update(parse_json(R"({
      "head_dim": 128, "max_position_embeddings": 131072, "mlp_bias": false,
      "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                       "original_max_position_embeddings": 8192, "rope_type": "llama3"},
      "eos_token_id": [128001, 128008, 128009]})",
                           "published"));
  return config;
}

Json qwen25_7b_instruct() {
  return parse_json(R"({
      "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2",
      "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
      "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "rms_norm_eps": 1e-06,
      "rope_theta": 1000000.0, "max_position_embeddings": 32768, "max_window_layers": 28,
      "sliding_window": 131072, "use_sliding_window": false, "tie_word_embeddings": false,
      "hidden_act": "silu", "bos_token_id": 151643, "eos_token_id": 151645, "torch_dtype": "bfloat16"})",
                    "published");
}

Json qwen3_8b() {
  return parse_json(R"({
      "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
      "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
      "rms_norm_eps": 1e-06, "rope_theta": 1000000, "rope_scaling": null, "max_position_embeddings": 40960,
      "attention_bias": false, "use_sliding_window": false, "sliding_window": null, "hidden_act": "silu",
      "tie_word_embeddings": false, "bos_token_id": 151643, "eos_token_id": 151645})",
                    "published");
}

Json qwen3_600m() {
  Json config = qwen3_8b();
  config.update(parse_json(R"({"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
                                "num_attention_heads": 16, "tie_word_embeddings": true})",
                           "published"));
  return config;
}

}  // namespace buoy::testing
