#include "buoy/benchmark/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "buoy/benchmark/timing.h"
#include "buoy/ops/linear/linear.h"
#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"

namespace buoy::benchmark {
namespace {

class CpuProduct {
 public:
  static constexpr std::int64_t kRows = 1024, kInputs = 2048, kOutputs = 2048;
  static constexpr double kFlops = 2.0 * kRows * kInputs * kOutputs;

  explicit CpuProduct(const Context& context, std::int64_t rows = kRows) : context_(context), rows_(rows) {
    for (size_t i = 0; i < input_.size(); ++i) input_[i] = static_cast<float>(i % 251) / 125 - 1;
    for (size_t i = 0; i < weights_.size(); ++i) weights_[i] = static_cast<float>(i % 241) / 120 - 1;
    weight_.data = reinterpret_cast<const std::byte*>(weights_.data());
    weight_.dtype = DType::kF32;
    weight_.shape = {kOutputs, kInputs};
  }
  void multiply() {
    ops::linear(context_, {input_.data(), rows_, &weight_, nullptr, output_.data()}, scratch_);
  }

 private:
  const Context& context_;
  std::int64_t rows_;
  std::vector<float> input_ = std::vector<float>(static_cast<size_t>(rows_ * kInputs)),
                     weights_ = std::vector<float>(kInputs * kOutputs),
                     output_ = std::vector<float>(kRows * kOutputs);
  Weight weight_;
  ops::LinearScratch scratch_;
};

class CardProduct {
 public:
  static constexpr std::int64_t kSize = 8192;
  static constexpr double kFlops = 2.0 * kSize * kSize * kSize;

  CardProduct() { linear_.choose(ops::LinearChoice::kLibrary); }
  const Stream& stream() const { return stream_; }
  void multiply() {
    linear_.multiply(stream_, {x_.get(), kSize, w_.get(), kSize, kSize, y_.get(), ops::LinearOutput::kBf16});
  }

 private:
  Stream stream_;
  ops::DeviceLinear linear_;
  NormalOnDevice x_{stream_, kSize*kSize}, w_{stream_, kSize*kSize, 0.01}, y_{stream_, kSize*kSize};
};

MachineLimits measure_cpu(const Context& context) {
  CpuProduct one(context);
  const double product = median_seconds([&] { one.multiply(); });

  constexpr size_t kPieces = 64, kPiece = size_t{4} << 20;
  std::vector<char> from(kPieces * kPiece, 1), to(from.size());
  const double copy = median_seconds([&] {
    context.threads.run(kPieces, [&](std::int64_t piece, int) {
      const size_t at = static_cast<size_t>(piece) * kPiece;
      std::memcpy(to.data() + at, from.data() + at, kPiece);
    });
  });
  return {"float32 1024 x 2048 x 2048, Buoy", CpuProduct::kFlops / product,
          2.0 * static_cast<double>(from.size()) / copy};
}

MachineLimits measure_card() {
  CardProduct one;
  const Stream& stream = one.stream();
  const double product = device_seconds(stream, [&] { one.multiply(); });
  const DeviceMemory from(size_t{2} << 30), to(size_t{2} << 30);
  const double copy =
      device_seconds(stream, [&] { copy_on_device(stream, to.data(), from.data(), from.bytes()); });
  return {"bf16 8192 x 8192 x 8192, cuBLASLt", CardProduct::kFlops / product,
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

}  // namespace

std::string describe_rate(double per_second, const char* unit) {
  return per_second >= 1e12 ? fmt::format("{:.3g} T{}/s", per_second / 1e12, unit)
                            : fmt::format("{:.3g} G{}/s", per_second / 1e9, unit);
}

MachineLimits measure_limits(const Context& context, Device device) {
  return device == Device::kCuda ? measure_card() : measure_cpu(context);
}

double quick_product_flops(const Context& context, Device device) {
  if (device != Device::kCpu) {
    CardProduct one;
    return CardProduct::kFlops / device_seconds(one.stream(), [&] { one.multiply(); });
  }
  constexpr std::int64_t kFewRows = 128;
  CpuProduct one(context, kFewRows);
  one.multiply();  // maps the pages
  return CpuProduct::kFlops * kFewRows / CpuProduct::kRows * calls_per_second(0.05, [&] { one.multiply(); });
}

double held_product_flops(const Context& context, Device device) {
  constexpr double kWarmUp = 1.0, kMeasured = 1.0;
  if (device == Device::kCpu) {
    CpuProduct one(context);
    calls_per_second(kWarmUp, [&] { one.multiply(); });
    return CpuProduct::kFlops * calls_per_second(kMeasured, [&] { one.multiply(); });
  }
  constexpr int kQueued = 20;  // so that the card never waits for the host
  CardProduct one;
  const auto queue = [&] {
    for (int i = 0; i < kQueued; ++i) one.multiply();
    one.stream().synchronize();
  };
  calls_per_second(kWarmUp, queue);
  return CardProduct::kFlops * kQueued * calls_per_second(kMeasured, queue);
}

std::string describe(const MachineLimits& limits) {
  return fmt::format("matrix product {} ({}), copy {}", describe_rate(limits.product_flops, "FLOP"),
                     limits.product, describe_rate(limits.copy_bytes, "B"));
}

std::string machine_name(Device device) {
  return device == Device::kCuda ? usable_devices().at(0).name : cpu_name();
}

Json machine_as_json(const Context& context, Device device) {
  Json out = {{"device", device == Device::kCuda ? "cuda" : "cpu"},
              {"cpu", cpu_name()},
              {"threads", context.threads.size()},
              {"compiler", __VERSION__}};
  if (device == Device::kCpu) return out;
  const DeviceInfo card = usable_devices().at(0);
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
