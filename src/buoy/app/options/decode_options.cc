#include "buoy/app/options/decode_options.h"

#include "buoy/app/options/shared_options.h"

namespace buoy::app {

void add_decode_options(Command& command, DecodeOptions& o) {
  const std::string diffusion = "Diffusion models", autoregressive = "Sampling";
  command.add_option("--max-new-tokens", o.max_new_tokens, "tokens to generate (default 128; eval 32)")
      ->positive();
  add_seed_option(command, o.seed);
  command.add_option("--temperature", o.temperature, "0 is greedy (default)")->nonnegative();
  command.add_flag("--allow-long", o.allow_long,
                   "go on where prompt and answer are longer than the model's context");
  command.add_option("--steps", o.steps, "denoising steps (default: as many as tokens)")
      ->positive()
      ->group(diffusion);
  command.add_option("--block-length", o.block_length, "LLaDA: block size (default: one block)")
      ->positive()
      ->group(diffusion);
  command
      .add_option("--algorithm", o.algorithm,
                  "order of unmasking. LLaDA: low_confidence (default), random. Dream: origin (default), "
                  "maskgit_plus,\n"
                  "topk_margin, entropy (the publisher's recipe)")
      ->group(diffusion);
  command.add_option("--alg-temp", o.alg_temp, "Dream: randomness of the order (default 0)")
      ->nonnegative()
      ->group(diffusion);
  command.add_option("--eps", o.eps, "Dream: end of the time schedule (default 0.001)")->group(diffusion);
  command.add_option("--cfg-scale", o.cfg_scale, "LLaDA: classifier-free guidance (default 0)")
      ->nonnegative()
      ->group(diffusion);
  command.add_flag("--logits-eos-inf", o.logits_eos_inf, "LLaDA: never write the end token")
      ->group(diffusion);
  command.add_flag("--confidence-eos-eot-inf", o.confidence_eos_eot_inf, "LLaDA: reveal end tokens last")
      ->group(diffusion);
  command.add_option("--top-p", o.top_p, "keep the most probable tokens up to this mass")
      ->group(autoregressive);
  command.add_option("--top-k", o.top_k, "keep this many of the most probable tokens")
      ->positive()
      ->group(autoregressive);
  command.add_option("--repetition-penalty", o.repetition_penalty, "penalise tokens already there")
      ->positive()
      ->group(autoregressive);
  command.add_option("--mask-token-id", o.mask_token, "mask token instead of the config's")->group(diffusion);
  command.add_option("--eos-token-id", o.eos_tokens, "end tokens instead of the config's, as in 1,2")
      ->delimiter(',');
  command.add_option("--eot-token-id", o.eot_token, "end-of-turn token instead of the tokenizer's");
}

}  // namespace buoy::app
