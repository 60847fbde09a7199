#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "buoy/base/file/json_file.h"
#include "buoy/tensor/context.h"
#include "buoy/tensor/device.h"
#include "buoy/tensor/device_memory.h"

namespace buoy::benchmark {

// What a machine can do, measured in the same run as what is compared with it.
struct MachineLimits {
  std::string product;   // which matrix product
  double product_flops;  // per second
  double copy_bytes;     // read and written by a copy within its memory, per second
};

// On the CPU the product is Buoy's own (float32, 1024 x 2048 x 2048) and the copy is done by all threads; on
// a GPU cuBLASLt's (bf16, 8192 x 8192 x 8192) and a copy within its memory.
MachineLimits measure_limits(const Context& context, Device device);

// Floating-point operations per second of such a product (on the CPU a smaller one), within a tenth of a
// second: for estimates.
double quick_product_flops(const Context& context, Device device);

// Floating-point operations per second of the same product repeated for two seconds: what is left of it when
// the machine is warm and at its power limit, as it is in steps of a large model.
double held_product_flops(const Context& context, Device device);

std::string describe_rate(double per_second, const char* unit);  // "787 TFLOP/s"
std::string describe(const MachineLimits& limits);  // "matrix product 787 TFLOP/s (...), copy 4.25 TB/s"

// Name, memory, threads, and the versions of what was used.
Json machine_as_json(const Context& context, Device device);
std::string machine_name(Device device);

// Time of one call that queues work on the stream: median over batches of calls.
double device_seconds(const Stream& stream, const std::function<void()>& call);

// Device memory with bf16 normal numbers.
struct NormalOnDevice {
  NormalOnDevice(const Stream& stream, std::int64_t count, double deviation = 1.0);
  std::uint16_t* get() const { return memory.as<std::uint16_t>(); }
  DeviceMemory memory;
};

}  // namespace buoy::benchmark
