#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "bench/measure.h"
#include "buoy/base/file/atomic_file.h"
#include "buoy/base/sha256.h"
#include "buoy/trace/array.h"

namespace buoy::bench {

// What a stored array goes through one after the other when a sample is written whole, in gigabytes per
// second of float32 by one thread; files lie in the folder for temporary files.
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
}

}  // namespace buoy::bench
