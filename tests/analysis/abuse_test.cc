// Whole traces made to break whatever computes from them: by hand (tests/data/trace/make_abuse.py), and every
// finding of the fuzzer, which stays as a file found_*.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "analysis/everything.h"
#include "buoy/analysis/core/run.h"
#include "buoy/base/error.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

TEST(TraceAbuse, TheUnspoiledOnesGoThroughEveryAnalysis) {
  for (const bool causal : {false, true}) {
    SCOPED_TRACE(causal);
    const TempFolder folder;
    small_packed_trace(causal).write(folder.path());
    for (const auto& kind : analysis::analysis_kinds()) {
      analysis::RunOptions options;
      options.analysis.bootstrap.replicates = 10;
      EXPECT_NO_THROW(
          analysis::run_analyses({std::string(kind.producer.name)}, {{folder.path(), "t"}}, options))
          << kind.producer.name;
    }
  }
}

TEST(TraceAbuse, NothingButErrorsComesOut) {
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(BUOY_TEST_DATA) / "trace" / "abuse")) {
    SCOPED_TRACE(entry.path().filename().string());
    std::stringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const TempFolder folder;
    PackedTrace::unpack(bytes.str()).write(folder.path());
    EXPECT_NO_THROW(compute_everything(folder.path()));
    // Taken as it is by one analysis at least, or refused by the file's own reader.
    const bool whole = entry.path().filename() == "whole";
    analysis::RunOptions options;
    options.analysis.bootstrap.replicates = 10;
    const auto floating = [&] { analysis::run_analyses({"floating"}, {{folder.path(), "t"}}, options); };
    if (whole) {
      EXPECT_NO_THROW(floating());
    } else if (!entry.path().filename().string().starts_with("found_")) {
      EXPECT_THROW(floating(), InputError);
    }
    ++files;
  }
  EXPECT_GT(files, 20u);
}

}  // namespace
}  // namespace buoy::testing
