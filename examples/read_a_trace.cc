// Reads a trace: for every sample and layer, the token that receives most attention at the last observed
// step. Needs no model.
//   read_a_trace TRACE_FOLDER        (as `buoy trace --observe received --out TRACE_FOLDER` writes it)

#include <buoy/base/error.h>
#include <buoy/trace/reader.h>
#include <buoy/trace/schema.h>

#include <algorithm>
#include <cstdio>

using namespace buoy;

int main(int argc, char** argv) try {
  if (argc != 2) throw UsageError("expected: read_a_trace TRACE_FOLDER");
  const auto reader = trace::TraceReader::open(argv[1]);
  std::printf("%s, %zu samples%s\n", reader.manifest().model.name.c_str(), reader.samples().size(),
              reader.complete() ? "" : " so far");
  for (const auto& entry : reader.samples()) {
    if (entry.status == trace::Status::kFailed) {
      std::printf("%s failed: %s\n", entry.id.c_str(), entry.error.c_str());
      continue;
    }
    // Mapped, not read: what is not asked for stays on the disk. The names and shapes are in
    // docs/trace-format.md.
    const auto sample = reader.read(entry.id);
    const auto layers = sample.integers(trace::kLayers), steps = sample.integers(trace::kSteps);
    const auto texts = sample.text_list(trace::kTokenTexts);
    std::printf("%s: '%s'\n", entry.id.c_str(), sample.text(trace::kAnswerText).c_str());
    for (size_t l = 0; l < layers.size(); ++l) {
      const auto step = std::ssize(steps) - 1;
      const auto received = sample.floats_at(trace::kReceived, {step, static_cast<std::int64_t>(l)});
      std::vector<double> share(texts.size());  // [groups, heads, tokens] added up over groups and heads
      double all = 0;
      for (size_t i = 0; i < received.size(); ++i) share[i % share.size()] += received[i], all += received[i];
      const auto most = static_cast<size_t>(std::ranges::max_element(share) - share.begin());
      std::printf("  layer %d, step %d: %4.1f%% goes to '%s' at %zu\n", layers[l], steps.back(),
                  100 * share[most] / all, texts[most].c_str(), most);
    }
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
