#include "benchmark/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "benchmark/timing.h"
#include "ops/elementwise_cuda.h"
#include "ops/linear.h"
#include "ops/linear_cuda.h"

namespace buoy::benchmark {
namespace {

MachineLimits measure_cpu(const Context& context) {
  constexpr std::int64_t kRows = 1024, kInputs = 2048, kOutputs = 2048;
  std::vector<float> input(kRows * kInputs), weights(kInputs * kOutputs), output(kRows * kOutputs);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 251) / 125 - 1;
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 241) / 120 - 1;
  Weight weight;
  weight.data = reinterpret_cast<const std::byte*>(weights.data());
  weight.dtype = DType::kF32;
  weight.shape = {kOutputs, kInputs};
  ops::LinearScratch scratch;
  const double product = median_seconds([&] {
    ops::linear(context, {input.data(), kRows, &weight, nullptr, output.data()}, scratch);
  });

  constexpr size_t kPieces = 64, kPiece = size_t{4} << 20;
  std::vector<char> from(kPieces * kPiece, 1), to(from.size());
  const double copy = median_seconds([&] {
    context.threads.run(kPieces, [&](std::int64_t piece, int) {
      const size_t at = static_cast<size_t>(piece) * kPiece;
      std::memcpy(to.data() + at, from.data() + at, kPiece);
    });
  });
  return {"float32 1024 x 2048 x 2048, Buoy", 2.0 * kRows * kInputs * kOutputs / product,
          2.0 * static_cast<double>(from.size()) / copy};
}

MachineLimits measure_card() {
  constexpr std::int64_t kSize = 8192;
  const Stream stream;
  ops::DeviceLinear linear;
  linear.choose(ops::LinearChoice::kLibrary);
  const NormalOnDevice x(stream, kSize * kSize), w(stream, kSize * kSize, 0.01), y(stream, kSize * kSize);
  const double product = device_seconds(stream, [&] {
    linear.multiply(stream, {x.get(), kSize, w.get(), kSize, kSize, y.get(), ops::LinearOutput::kBf16});
  });
  const DeviceMemory from(size_t{2} << 30), to(size_t{2} << 30);
  const double copy =
      device_seconds(stream, [&] { copy_on_device(stream, to.data(), from.data(), from.bytes()); });
  return {"bf16 8192 x 8192 x 8192, cuBLASLt", 2.0 * kSize * kSize * kSize / product,
          2.0 * static_cast<double>(from.bytes()) / copy};
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "unknown";
}

std::string rate(double per_second, const char* unit) {
  return per_second >= 1e12 ? fmt::format("{:.3g} T{}/s", per_second / 1e12, unit)
                            : fmt::format("{:.3g} G{}/s", per_second / 1e9, unit);
}

}  // namespace

MachineLimits measure_limits(const Context& context, Device device) {
  return device == Device::kCuda ? measure_card() : measure_cpu(context);
}

std::string describe(const MachineLimits& limits) {
  return fmt::format("matrix product {} ({}), copy {}", rate(limits.product_flops, "FLOP"), limits.product,
                     rate(limits.copy_bytes, "B"));
}

std::string machine_name(Device device) {
  return device == Device::kCuda ? cuda_devices().at(0).name : cpu_name();
}

Json machine_as_json(const Context& context, Device device) {
  Json out = {{"device", device == Device::kCuda ? "cuda" : "cpu"},
              {"cpu", cpu_name()},
              {"threads", context.threads.size()},
              {"compiler", __VERSION__}};
  if (device == Device::kCpu) return out;
  const DeviceInfo card = cuda_devices().at(0);
  out["gpu"] = {{"name", card.name},
                {"compute_capability", fmt::format("{}.{}", card.major, card.minor)},
                {"memory_bytes", card.memory_bytes},
                {"cuda_runtime", card.runtime},
                {"cuda_of_driver", card.driver}};
  return out;
}

double device_seconds(const Stream& stream, const std::function<void()>& call) {
  constexpr int kBatches = 7, kCalls = 10;
  call();
  std::vector<double> times;
  Event begin, end;
  for (int batch = 0; batch < kBatches; ++batch) {
    begin.record(stream);
    for (int i = 0; i < kCalls; ++i) call();
    end.record(stream);
    end.synchronize();
    times.push_back(end.milliseconds_since(begin) * 1e-3 / kCalls);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

NormalOnDevice::NormalOnDevice(const Stream& stream, std::int64_t count, double deviation)
    : memory(static_cast<size_t>(count) * sizeof(std::uint16_t)) {
  ops::fill_normal_cuda(stream, get(), count, static_cast<std::uint64_t>(count), deviation);
}

}  // namespace buoy::benchmark
