#include "app/pair.h"

#include <gtest/gtest.h>

#include "app/program.h"
#include "support/golden.h"

namespace buoy::testing {

std::filesystem::path pair_folder(bool masked_diffusion) {
  return data_folder() / ".." / ".." / "models" /
         (masked_diffusion ? "planted-diffusion" : "planted-autoregressive");
}

void trace_pair(const std::filesystem::path& folder, const PairTrace& trace) {
  const std::string questions = folder.string() + ".questions.jsonl";
  const auto world = run_buoy({"world", "--count", std::to_string(trace.count), "--passages",
                               std::to_string(trace.passages), "--out", questions});
  ASSERT_EQ(world.exit_code, 0) << world.err;
  std::vector<std::string> call = {"trace",
                                   "--model",
                                   pair_folder(trace.masked_diffusion).string(),
                                   "--data",
                                   questions,
                                   "--max-new-tokens",
                                   "8",
                                   "--out",
                                   folder.string(),
                                   "--template",
                                   (pair_folder(true) / ".." / "planted.prompt").string()};
  call.insert(call.end(), trace.more.begin(), trace.more.end());
  const auto traced = run_buoy(call);
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
}

}  // namespace buoy::testing
