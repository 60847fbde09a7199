#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "buoy/decode/drive.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "support/family_case.h"

namespace buoy::testing {

// A family with a decoding rule, where it needs one.
struct TracedFamily {
  const char *name, *rule;
};

class BlockTraceCase : public ::testing::TestWithParam<TracedFamily> {
 protected:
  BlockTraceCase() : model_(run::load_model(family_folder(GetParam().name))) {
    auto& o = request_.decode;
    const bool small = model_.model.config().vocabulary < 75;
    o.mask_token = mask_ = small ? 50 : 75;
    o.max_new_tokens = 16;
    if (GetParam().rule != nullptr) o.decoding_rule = GetParam().rule;
    if (model_.model.config().family == Family::kLlada2) o.block_length = 4;
    if (edits()) o.editing_threshold = o.threshold = 0.5;
    if (is_a2d(model_.model.config().family)) o.decoding_rule = "bd3lm", o.block_length = 8, o.steps = 6;
    request_.observe = "all,rows,dense-mean,states,residual,residual-norms,head-out,lens,predictions";
    request_.items.resize(1);
    request_.items[0].id = "only";
    request_.ids = run::Prompt{};
    request_.ids->ids = {26, 7, 71, 5, 34, 69, 12, 13, 50};
    if (small) request_.ids->ids = {26, 7, 31, 5, 34, 29, 12, 13, 40};
  }

  bool edits() const { return request_.decode.decoding_rule == "llada21"; }

  trace::StoredSample traced() {
    request_.folder = scratch_ / std::to_string(number_++);
    const Context context{threads_};
    const auto result =
        run::run_trace(context, model_, run::make_trace_run(request_, model_), {[](const auto&) {}, [] {}});
    EXPECT_EQ(result.samples, 1u);
    const auto reader = trace::TraceReader::open(request_.folder);
    EXPECT_EQ(reader.manifest().blocks, true);
    return reader.read("only");
  }

  std::unique_ptr<decode::StepMachine> unwatched() {
    const Context context{threads_};
    auto machine = run::make_machine(model_.model, request_.decode, request_.ids->ids, std::nullopt);
    machine->store_apart();  // the same forwards as where somebody watches
    decode::StepMachine* machines[] = {machine.get()};
    decode::drive(context, model_.model, machines, nullptr);
    return machine;
  }

  TempFolder scratch_;
  ThreadPool threads_{2};
  run::LoadedModel model_;
  run::TraceRequest request_;
  std::int32_t mask_ = 0;
  int number_ = 0;
};

inline std::vector<trace::StepKind> kinds_of(const trace::StoredSample& sample) {
  std::vector<trace::StepKind> kinds;
  for (const auto kind : sample.integers(trace::kStepKinds))
    kinds.push_back(static_cast<trace::StepKind>(kind));
  return kinds;
}

inline std::vector<TracedFamily> traced_families() {
  return {TracedFamily{"sdar-f32", nullptr},      TracedFamily{"fast-dllm-v2-f32", nullptr},
          TracedFamily{"a2d-qwen3-f32", nullptr}, TracedFamily{"a2d-qwen3-bf16", nullptr},
          TracedFamily{"nemotron-f32", nullptr},  TracedFamily{"nemotron-bf16", nullptr},
          TracedFamily{"llada2-f32", "llada2"},   TracedFamily{"llada2-f32", "llada21"}};
}

inline std::string name_of(const TracedFamily& family) {
  std::string name = family.name;
  if (family.rule != nullptr) name += std::string("_") + family.rule;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace buoy::testing
