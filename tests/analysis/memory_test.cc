// Analyses keep sums, not samples: what they hold does not grow with the number of samples.

#include <gtest/gtest.h>

#include "analysis/planted.h"
#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/sample_run.h"
#include "buoy/analysis/sample/replay.h"
#include "buoy/benchmark/peak_memory.h"
#include "buoy/trace/reader.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

void take(const std::vector<std::unique_ptr<analysis::Analysis>>& analyses,
          const analysis::StoredSource& source) {
  ThreadPool alone(1);
  analysis::SampleRun run(analyses, source.sample());
  analysis::replay(source, {}, alone,
                   {[&](const analysis::LayerView& layer) { run.take(layer); },
                    [&](std::int64_t l) { run.finish_layer(source.sample(), l); }});
  run.end(source.sample());
}

TEST(AnalysisMemory, DoesNotGrowWithTheSamples) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory";
#endif
  PlantedSpec spec;
  spec.samples = 1;
  spec.texts.assign(64, "word");
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) {
    for (size_t j = 0; j < weights.size(); ++j) weights[j] = 0.1 + draw(map, static_cast<std::uint32_t>(j));
  };
  const TempFolder folder;
  write_trace(folder / "t", plant(spec));
  const auto reader = trace::TraceReader::open(folder / "t");
  for (const char* name : {"floating", "drift", "absorption", "structure", "sinks", "steps"}) {
    std::vector<std::unique_ptr<analysis::Analysis>> analyses;
    analyses.push_back(analysis::find_analysis(name).make({"t", reader.manifest()}, {}));
    const auto add = [&](int times) {
      for (int i = 0; i < times; ++i)
        take(analyses, analysis::StoredSource(reader.manifest(), reader.read(reader.samples()[0].id)));
    };
    add(40);  // sums of replicates are there from the seventeenth on
    // Four hundred samples of 16 steps hold 3 MB of received attention; keeping one number of each map would
    // show.
    EXPECT_LT(benchmark::peak_extra_bytes([&] { add(400); }), std::uint64_t{1} << 20) << name;
  }
}

}  // namespace
}  // namespace buoy::testing
