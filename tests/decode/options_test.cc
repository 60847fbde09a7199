// Options that make no sense are refused before anything runs, in words that name the option.

#include <gtest/gtest.h>

#include <limits>

#include "buoy/decode/autoregressive.h"
#include "buoy/decode/dream.h"
#include "buoy/decode/llada.h"
#include "decode/fake_logits.h"

namespace buoy {
namespace {

using namespace testing;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Builds a machine from options that are fine but for what `spoil` changes.
template <typename Spoil>
void llada_refused(const std::string& option, const Spoil& spoil, const Ids& prompt = {1}) {
  decode::LladaOptions o;
  o.max_new_tokens = 12, o.steps = 6, o.block_length = 4;
  EXPECT_NO_THROW(decode::LladaMachine(Ids{1}, o));
  spoil(o);
  expect_refused(option, [&] { decode::LladaMachine(prompt, o); });
}

template <typename Spoil>
void dream_refused(const std::string& option, const Spoil& spoil, const Ids& prompt = {1}) {
  decode::DreamOptions o;
  o.max_new_tokens = 12, o.steps = 6;
  EXPECT_NO_THROW(decode::DreamMachine(Ids{1}, o));
  spoil(o);
  expect_refused(option, [&] { decode::DreamMachine(prompt, o); });
}

template <typename Spoil>
void autoregressive_refused(const std::string& option, const Spoil& spoil, const Ids& prompt = {1}) {
  decode::AutoregressiveOptions o;
  EXPECT_NO_THROW(decode::AutoregressiveMachine(Ids{1}, o, {0, 0}));
  spoil(o);
  expect_refused(option, [&] { decode::AutoregressiveMachine(prompt, o, {0, 0}); });
}

TEST(LladaOptions, ThatMakeNoSenseAreRefused) {
  for (const std::int32_t steps : {0, -3, 7, 1}) {  // there are three blocks
    llada_refused("`steps`", [&](auto& o) { o.steps = steps; });
  }
  for (const std::int32_t block : {0, -4, 5, 13, 24}) {
    llada_refused("`block_length`", [&](auto& o) { o.block_length = block; });
  }
  for (const std::int32_t count : {0, -1})
    llada_refused("`max_new_tokens`", [&](auto& o) { o.max_new_tokens = count; });
  for (const double bad : {-0.1, kNan}) {
    llada_refused("`temperature`", [&](auto& o) { o.temperature = bad; });
    llada_refused("`cfg_scale`", [&](auto& o) { o.cfg_scale = bad; });
  }
  llada_refused("`logits_eos_inf`", [](auto& o) { o.logits_eos_inf = true; });
  llada_refused("`confidence_eos_eot_inf`",
                [](auto& o) { o.confidence_eos_eot_inf = true, o.eot_token = 2; });
  llada_refused("`confidence_eos_eot_inf`",
                [](auto& o) { o.confidence_eos_eot_inf = true, o.eos_token = 2; });
  llada_refused("prompt", [](auto&) {}, {});
}

TEST(DreamOptions, ThatMakeNoSenseAreRefused) {
  for (const std::int32_t steps : {0, -3}) dream_refused("`steps`", [&](auto& o) { o.steps = steps; });
  for (const std::int32_t count : {0, -1})
    dream_refused("`max_new_tokens`", [&](auto& o) { o.max_new_tokens = count; });
  for (const double bad : {-0.1, kNan}) {
    dream_refused("`temperature`", [&](auto& o) { o.temperature = bad; });
    dream_refused("`alg_temp`", [&](auto& o) { o.alg_temp = bad; });
  }
  for (const double bad : {0.0, -0.5, 1.01, kNan}) dream_refused("`top_p`", [&](auto& o) { o.top_p = bad; });
  for (const double bad : {0.0, 1.0, -1.0, kNan}) dream_refused("eps", [&](auto& o) { o.eps = bad; });
  for (const std::int64_t bad : {0, -1}) dream_refused("`top_k`", [&](auto& o) { o.top_k = bad; });
  dream_refused("prompt", [](auto&) {}, {});
}

TEST(AutoregressiveOptions, ThatMakeNoSenseAreRefused) {
  for (const std::int32_t count : {0, -1}) {
    autoregressive_refused("`max_new_tokens`", [&](auto& o) { o.max_new_tokens = count; });
  }
  for (const double bad : {-0.1, kNan})
    autoregressive_refused("`temperature`", [&](auto& o) { o.temperature = bad; });
  for (const double bad : {0.0, -0.5, 1.01, kNan})
    autoregressive_refused("`top_p`", [&](auto& o) { o.top_p = bad; });
  for (const std::int64_t bad : {0, -1}) autoregressive_refused("`top_k`", [&](auto& o) { o.top_k = bad; });
  for (const double bad : {0.0, -1.0, kNan}) {
    autoregressive_refused("`repetition_penalty`", [&](auto& o) { o.repetition_penalty = bad; });
  }
  autoregressive_refused("prompt", [](auto&) {}, {});
}

TEST(Options, AtTheEdgeOfSenseAreAccepted) {
  decode::DreamOptions dream;
  dream.top_p = 1, dream.top_k = 1, dream.temperature = 0, dream.max_new_tokens = 1, dream.steps = 1;
  EXPECT_NO_THROW(decode::DreamMachine(Ids{1}, dream));
  decode::LladaOptions llada;
  llada.max_new_tokens = llada.steps = llada.block_length = 1;
  EXPECT_NO_THROW(decode::LladaMachine(Ids{1}, llada));
}

}  // namespace
}  // namespace buoy
