#include "buoy/checkpoint/yarn_settings.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "buoy/base/error.h"

namespace buoy {
namespace {

std::optional<double> positive_if_given(const JsonObject& scaling, const char* key) {
  const auto value = scaling.number(key);
  if (value && !(*value > 0 && std::isfinite(*value))) scaling.fail(key, "a positive number");
  return value;
}

double positive_or(const JsonObject& scaling, const char* key, double absent) {
  return positive_if_given(scaling, key).value_or(absent);
}

}  // namespace

YarnRopeScaling read_yarn(const JsonObject& scaling, double theta, std::int64_t context) {
  constexpr const char* kOriginal = "original_max_position_embeddings";
  constexpr double kBetaFast = 32, kBetaSlow = 1;  // transformers' defaults
  if (!(theta > 1)) scaling.fail("rope_theta", "a number above 1");
  YarnRopeScaling out{};
  scaling.required_number(kOriginal);
  out.original_context = positive_or(scaling, kOriginal, 0);
  out.factor = positive_or(scaling, "factor", static_cast<double>(context) / out.original_context);
  out.beta_fast = positive_or(scaling, "beta_fast", kBetaFast);
  out.beta_slow = positive_or(scaling, "beta_slow", kBetaSlow);
  if (out.beta_fast <= out.beta_slow)
    scaling.fail("beta_fast", fmt::format("a number above beta_slow ({})", out.beta_slow));
  // Pairs turn from once in 2 pi positions to theta times as slowly: between the two the ramp has to lie.
  const double full_turn = 2.0 * std::numbers::pi;
  if (out.original_context <= full_turn * out.beta_slow ||
      out.original_context >= full_turn * out.beta_fast * theta) {
    scaling.fail(kOriginal,
                 fmt::format("a number from {:.6g} to {:.6g}, so that beta_slow and beta_fast turns "
                             "in it are those of some frequencies",
                             full_turn * out.beta_slow, full_turn * out.beta_fast * theta));
  }
  out.attention_factor = positive_if_given(scaling, "attention_factor");
  out.mscale = positive_if_given(scaling, "mscale");
  out.mscale_all_dim = positive_if_given(scaling, "mscale_all_dim");
  if (!scaling.boolean("truncate").value_or(true)) scaling.fail("truncate", "true");
  constexpr const char* kQueryBeta = "llama_4_scaling_beta";
  out.query_beta = scaling.required_number(kQueryBeta);
  if (!(out.query_beta >= 0 && std::isfinite(out.query_beta))) scaling.fail(kQueryBeta, "0 or more");
  return out;
}

}  // namespace buoy
