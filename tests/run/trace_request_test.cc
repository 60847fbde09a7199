// What decides the bytes of a trace is in its manifest, so that no run is continued by another.
#include "buoy/run/trace_request.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "buoy/base/error.h"
#include "buoy/run/loaded_model.h"
#include "run/runs.h"
#include "support/fails_with.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

namespace fs = std::filesystem;

class TraceRequestTest : public ::testing::Test {
 protected:
  TraceRequestTest() {
    fs::copy(buoy::testing::data_folder() / "goldens" / "llada-bf16", model(), fs::copy_options::recursive);
    request_.items.resize(1);
    request_.items[0].id = "one";
    request_.ids.emplace().ids = {1, 2, 3};
    request_.observe = "received";
    request_.decode.max_new_tokens = 4;
  }

  fs::path model() const { return folder_.path() / "model"; }
  TraceRun make() const { return make_trace_run(request_, load_model(model())); }

  buoy::testing::TempFolder folder_;
  TraceRequest request_;
};

TEST_F(TraceRequestTest, TheSameRequestGivesTheSameManifest) {
  const auto a = make().manifest, b = make().manifest;
  EXPECT_EQ(a.probe, b.probe);
  EXPECT_EQ(a.model.weights_sha256, b.model.weights_sha256);
  EXPECT_EQ(a.sample_ids, std::vector<std::string>{"one"});
}

TEST_F(TraceRequestTest, WeightsOfTheSameLayoutButOtherValuesAreAnotherModel) {
  const auto before = make().manifest.model.weights_sha256;
  const auto file = model() / "model.safetensors";
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(static_cast<std::streamoff>(fs::file_size(file)) - 2);
  bytes.put('\x11');
  bytes.close();
  EXPECT_NE(make().manifest.model.weights_sha256, before);
}

TEST_F(TraceRequestTest, WhateverChangesWhatIsObservedOrAskedChangesTheProbe) {
  const auto before = make().manifest.probe;
  const auto differs = [&](auto change) {
    const auto kept = request_;
    change(request_);
    const bool out = make().manifest.probe != before;
    request_ = kept;
    return out;
  };
  EXPECT_TRUE(differs([](TraceRequest& r) { r.observe = "received,entropy"; }));
  EXPECT_TRUE(differs([](TraceRequest& r) { r.layers = "0"; }));
  EXPECT_TRUE(differs([](TraceRequest& r) { r.steps_observed = "0"; }));
  EXPECT_TRUE(differs([](TraceRequest& r) { r.groups = "parity"; }));
  EXPECT_TRUE(differs([](TraceRequest& r) { r.final_row = false; }));
  EXPECT_TRUE(differs([](TraceRequest& r) { r.arrangement = arrangement_of(1, 0); }));
  EXPECT_TRUE(differs([](TraceRequest& r) { r.arrangement = arrangement_of(-1, 1); }));
  EXPECT_TRUE(differs([](TraceRequest& r) { r.ids->ids.push_back(4); }));
  EXPECT_TRUE(differs([](TraceRequest& r) { r.items[0].question = "Who?"; }));
  EXPECT_TRUE(differs([](TraceRequest& r) { r.items[0].answers = {"Ada"}; }));
  EXPECT_FALSE(differs([](TraceRequest& r) { r.command = "another"; }));
}

// The file keeps its name.
TEST_F(TraceRequestTest, AnotherTemplateChangesTheProbe) {
  const auto model = load_model(testing::pair_model(true).path);
  request_.ids.reset();
  request_.items[0].question = "Who was born in Arlem?";
  request_.prompt_template = (folder_ / "p.prompt").string();
  const auto with_template = [&](const std::string& text) {
    std::ofstream(request_.prompt_template) << text;
    return make_trace_run(request_, model).manifest.probe;
  };
  const auto before = with_template("Question: {{question}}\nAnswer:");
  EXPECT_EQ(with_template("Question: {{question}}\nAnswer:"), before);
  EXPECT_NE(with_template("Asked: {{question}}\nAnswer:"), before);
  request_.chat.system = "Be short.";
  EXPECT_EQ(with_template("Question: {{question}}\nAnswer:"), before)
      << "without a chat template nobody reads it";
}

TEST_F(TraceRequestTest, APlaceBeyondThePassagesIsRefusedForAll) {
  request_.arrangement = arrangement_of(3, 5);
  EXPECT_TRUE(testing::fails_with<UsageError>([&] { make(); }, {"gold", "1 to 3", "5"}));
  request_.arrangement = arrangement_of(0, 1);
  EXPECT_TRUE(testing::fails_with<UsageError>([&] { make(); }, {"gold", "closed book"}));
}

// The folder a template lies in decides nothing: a study goes on wherever it is started from.
TEST_F(TraceRequestTest, TheFolderOfATemplateIsNotPartOfTheProbe) {
  const auto model = load_model(testing::pair_model(true).path);
  request_.ids.reset();
  request_.items[0].question = "Who?";
  fs::create_directory(folder_ / "other");
  const auto probe = [&](const fs::path& file) {
    std::ofstream(file) << "Question: {{question}}";
    request_.prompt_template = file.string();
    return make_trace_run(request_, model).manifest.probe;
  };
  EXPECT_EQ(probe(folder_ / "p.prompt"), probe(folder_ / "other" / "p.prompt"));
}

}  // namespace
}  // namespace buoy::run
