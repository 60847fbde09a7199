// Models that are read in a way their config does not tell: Nemotron next token by next token, Qwen2's body
// as Open-dCoder; RND1. What is traced is what is decoded unwatched, with the mask and the offset of the
// reading.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/decode/drive.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/identity.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "support/fails_with.h"
#include "support/family_case.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::family_folder;
using testing::TempFolder;
using Ids = std::vector<std::int32_t>;

struct Reading {
  const char *name, *rule;
  std::string_view attention;
  bool masks;
};

class ReadingTrace : public ::testing::TestWithParam<Reading> {
 protected:
  ReadingTrace() : model_(load_model(family_folder(GetParam().name))) {
    auto& o = request_.decode;
    if (GetParam().masks) o.mask_token = 50;
    o.max_new_tokens = 10;
    if (GetParam().rule != nullptr) o.decoding_rule = GetParam().rule;
    if (GetParam().masks) o.steps = 5;
    request_.observe = "all,rows,predictions";
    request_.items.resize(1);
    request_.items[0].id = "only";
    request_.ids = Prompt{};
    request_.ids->ids = {26, 7, 31, 5, 34, 29, 12, 13, 40};
    request_.folder = scratch_ / "trace";
  }

  void run(const TraceRequest& request) {
    const Context context{threads_};
    const auto result =
        run_trace(context, model_, make_trace_run(request, model_), {[](const auto&) {}, [] {}});
    EXPECT_EQ(result.samples, 1u);
  }

  TempFolder scratch_;
  ThreadPool threads_{2};
  LoadedModel model_;
  TraceRequest request_;
};

TEST_P(ReadingTrace, HoldsWhatIsDecodedUnwatched) {
  run(request_);
  const auto reader = trace::TraceReader::open(request_.folder);
  EXPECT_FALSE(reader.manifest().blocks);
  const auto sample = reader.read("only");
  const Context context{threads_};
  const auto machine = make_machine(model_.model, request_.decode, request_.ids->ids, std::nullopt);
  decode::StepMachine* machines[] = {machine.get()};
  decode::drive(context, model_.model, machines, nullptr);
  EXPECT_EQ(sample.integers(trace::kTokens), machine->row());
  EXPECT_EQ(sample.integers(trace::kRevealedAt), machine->revealed_at());
  EXPECT_EQ(sample.text(trace::kAttention), GetParam().attention);
  EXPECT_EQ(sample.integer_text(trace::kPredictionOffset), 1);
  EXPECT_EQ(sample.has_text(trace::kMaskToken), GetParam().masks);
  // Steps and the look at the final row; or one pass over the finished row.
  EXPECT_EQ(std::ssize(sample.integers(trace::kSteps)), GetParam().masks ? 6 : 1);
}

// A query sees keys behind itself exactly where the reading says so.
TEST_P(ReadingTrace, IsAttendedAsItIsRead) {
  auto request = request_;
  request.observe = "dense-mean";
  run(request);
  const auto sample = trace::TraceReader::open(request.folder).read("only");
  const std::int64_t T = sample.shape(trace::kTokens)[0];
  const Ids steps = sample.integers(trace::kSteps);
  for (const auto step : steps) {
    const auto dense = sample.floats(trace::dense_mean_name(step, 0));
    double behind = 0;
    for (std::int64_t row = 0; row < T; ++row) {
      for (std::int64_t key = row + 1; key < T; ++key) behind += dense[static_cast<size_t>(row * T + key)];
    }
    EXPECT_EQ(behind > 0, GetParam().masks) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, ReadingTrace,
    ::testing::Values(Reading{"nemotron-f32", "autoregressive", trace::kCausalAttention, false},
                      Reading{"open-dcoder-f32", "open_dcoder", trace::kBidirectionalAttention, true},
                      Reading{"open-dcoder-f32", nullptr, trace::kCausalAttention, false},
                      Reading{"rnd1-f32", nullptr, trace::kBidirectionalAttention, true}),
    [](const auto& test) {
      std::string name = std::string(test.param.name) + "_" + (test.param.rule ? test.param.rule : "default");
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(Readings, TheDefaultOfNemotronIsInTheIdentity) {
  const auto model = model::Model::load(family_folder("nemotron-f32"));
  const auto rule_of = [&](const DecodeOptions& options) {
    return parse_json(describe_run(model, options, "").decoding, "decoding").value("decoding_rule", "none");
  };
  EXPECT_EQ(rule_of({}), "diffusion");
  DecodeOptions next_token;
  next_token.decoding_rule = "autoregressive";
  EXPECT_EQ(rule_of(next_token), "autoregressive");
  EXPECT_EQ(describe_model_files(family_folder("nemotron-f32"))["default_rule"], "diffusion");
  // A model that is what its config says has none.
  const auto qwen = model::Model::load(family_folder("open-dcoder-f32"));
  EXPECT_EQ(parse_json(describe_run(qwen, {}, "").decoding, "decoding").contains("decoding_rule"), false);
  EXPECT_FALSE(describe_model_files(family_folder("open-dcoder-f32")).contains("default_rule"));
}

TEST(Readings, WhatTracesCannotHoldIsRefused) {
  ThreadPool threads(1);
  const auto refused = [&](const char* name, DecodeOptions options, const char* field) {
    options.mask_token = 50;
    options.max_new_tokens = 8;
    return fails_with<UsageError>([&] { refuse_observing(read_config(family_folder(name)), options); },
                                  {field, "observed"});
  };
  DecodeOptions o;
  o.decoding_rule = "open_dcoder";
  for (const char* order : {"p2", "origin"}) {
    o.algorithm = order;
    EXPECT_TRUE(refused("open-dcoder-f32", o, "`algorithm`"));
  }
  o = {};
  o.entropy_bound = 1;
  EXPECT_TRUE(refused("rnd1-f32", o, "`entropy_bound`"));
  o = {};
  o.steps = 9;
  EXPECT_TRUE(refused("rnd1-f32", o, "`steps`"));
}

// The rule decides whether there are steps to tell apart, not the family.
TEST(Readings, ChangesOfSingleStepsNeedALoopThatHasSome) {
  const auto changed = parse_changes({"0.0/1=0"}, {"0/1=0"});
  DecodeOptions o;
  const ModelConfig nemotron = read_config(family_folder("nemotron-f32"));
  check_changes(changed, nemotron, o);
  o.decoding_rule = "autoregressive";
  EXPECT_TRUE(
      fails_with<UsageError>([&] { check_changes(changed, nemotron, o); }, {"`scale_heads`", "no steps"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { check_changes(parse_changes({}, {"0/1=0"}), nemotron, o); },
                                     {"`scale_keys`", "no steps"}));
  EXPECT_TRUE(fails_with<UsageError>(
      [&] {
        ChangingProbe(changed, nemotron, {{}, 20, 4, o}, nullptr);
      },
      {"`scale_heads`", "no steps"}));
  // A Qwen2 body that is decoded as masks has steps.
  const ModelConfig qwen = read_config(family_folder("open-dcoder-f32"));
  EXPECT_TRUE(
      fails_with<UsageError>([&] { check_changes(changed, qwen, {}); }, {"`scale_heads`", "no steps"}));
  o.decoding_rule = "open_dcoder";
  check_changes(changed, qwen, o);
}

TEST(Readings, WhatIsMissingOrOfAnotherFamilyIsRefused) {
  const auto refused = [](const char* name, const DecodeOptions& options,
                          std::initializer_list<std::string> parts) {
    return fails_with<UsageError>([&] { check_decoding(read_config(family_folder(name)), options); }, parts);
  };
  DecodeOptions o;
  o.mask_token = 50;
  EXPECT_TRUE(refused("llada2-f32", o, {"`decoding_rule`", "llada2 or llada21", "found none"}));
  o.decoding_rule = "llada2";
  EXPECT_NO_THROW(check_decoding(read_config(family_folder("llada2-f32")), o));
  EXPECT_TRUE(refused("nemotron-f32", o, {"`decoding_rule`", "diffusion or autoregressive"}));
  o.decoding_rule = "diffusion";
  o.block_length = 8;
  EXPECT_TRUE(refused("nemotron-f32", o, {"`block_length`", "expected 4", "found 8"}));
  o = {};
  o.decoding_rule = "open_dcoder";
  EXPECT_TRUE(
      refused("open-dcoder-f32", o, {"`mask_token`", "config.json has no mask_token_id", "found none"}));
  o.decoding_rule = "llada21";
  EXPECT_TRUE(refused("llada2-f32", o, {"`mask_token`", "none of 64 tokens", "found none"}));
}

TEST(Readings, BidirectionalContextIsNotTraced) {
  auto model = load_model(family_folder("nemotron-f32"));
  ThreadPool threads(1);
  TraceRequest request;
  request.decode.bidirectional_context = true;
  request.decode.max_new_tokens = 4;
  request.observe = "received";
  request.items.resize(1);
  request.items[0].id = "only";
  request.ids = Prompt{};
  request.ids->ids = {1, 2, 3};
  const TempFolder scratch;
  request.folder = scratch / "trace";
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        run_trace({threads}, model, make_trace_run(request, model), {[](const auto&) {}, [] {}});
      },
      {"every sample failed", "`bidirectional_context`", "off where forwards are observed"}));
}

}  // namespace
}  // namespace buoy::run
