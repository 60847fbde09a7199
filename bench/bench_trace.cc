#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "bench/measure.h"
#include "buoy/base/file/atomic_file.h"
#include "buoy/base/sha256.h"
#include "buoy/tensor/float16_spans.h"
#include "buoy/trace/array.h"
#include "buoy/trace/sample_file.h"
#include "buoy/trace/tree_sum.h"

namespace buoy::bench {
namespace {

// The same values as cells of a sample file in memory (/dev/shm), by one thread and by all.
template <typename Line>
void bench_sample_file(const std::vector<float>& values, const Line& line) {
  constexpr std::int64_t kCells = 256;
  const auto folder = std::filesystem::path("/dev/shm") / fmt::format("buoy-bench-trace-{}", ::getpid());
  if (!std::filesystem::exists(folder.parent_path())) return;
  std::filesystem::create_directories(folder / "samples");
  const auto count = static_cast<std::int64_t>(values.size());
  const trace::SamplePlan plan{"s", {{"x_values", trace::DataType::kF32, {count}, kCells}}, {}, {}};
  for (const int threads : {1, available_threads()}) {
    ThreadPool pool(threads);
    const auto write = [&] {
      trace::SampleFile file({folder, trace::Storage::kF16, nullptr}, plan);
      pool.run(kCells, [&](std::int64_t cell, int) {
        const auto each = values.size() / kCells;
        file.put("x_values", cell, std::span(values).subspan(static_cast<size_t>(cell) * each, each));
      });
      file.finish({}, {}, &pool);
    };
    line(fmt::format("cells into a sample file in memory, {} threads", threads).c_str(),
         median_seconds(write));
    const MappedFile file(folder / trace::sample_file("s"));
    line(fmt::format("tree SHA-256 of that file, {} threads", threads).c_str(),
         median_seconds([&] { trace::tree_sha256_of(file, threads); }));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace

// What a stored array goes through one after the other when a sample is written whole, in gigabytes per
// second of float32 by one thread; files lie in the folder for temporary files. Then all of it at once, cell
// by cell.
void bench_trace(const Report& report) {
  constexpr size_t kCount = 64 << 20;
  constexpr double kGigabytes = kCount * sizeof(float) / 1e9;
  std::vector<float> values(kCount), stack;
  for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i % 4099) / 4099;
  const auto line = [&](const char* what, double seconds) {
    report({fmt::format("trace, {}", what), seconds, kGigabytes / seconds, "GB/s of float32", 0});
  };
  line("into a new stack", median_seconds([&] {
         stack = {};
         stack.resize(kCount);
         std::copy(values.begin(), values.end(), stack.begin());
       }));
  trace::Array array;
  line("as bytes of an array", median_seconds([&] {
         array = trace::float_array("x_values", {static_cast<std::int64_t>(kCount)}, stack);
       }));
  line("whether it fits into F16", median_seconds([&] {
         if (trace::exceeds_f16(array)) std::abort();
       }));
  trace::Array half;
  line("to F16", median_seconds([&] { half = trace::to_f16(array); }));
  line("SHA-256 of the F16", median_seconds([&] { sha256_hex(half.bytes); }));
  const auto path = std::filesystem::temp_directory_path() / fmt::format("buoy-bench-trace-{}", ::getpid());
  line("writing the F16, synced", median_seconds([&] {
         AtomicFile file(path);
         file.write(half.bytes);
         file.commit();
       }));
  std::filesystem::remove(path);
  std::vector<float> back(kCount);
  line("from F16", median_seconds([&] { f16_to_floats(half.bytes, back); }));
  bench_sample_file(values, line);
}

}  // namespace buoy::bench
