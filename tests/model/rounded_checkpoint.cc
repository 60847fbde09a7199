#include "model/rounded_checkpoint.h"

#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "buoy/base/float16.h"
#include "buoy/tensor/dtype.h"
#include "support/tiny_checkpoint.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

float number(const std::byte* from, const std::string& dtype, std::int64_t i) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, from + i * (dtype == "F32" ? 4 : 2), dtype == "F32" ? 4 : 2);
  if (dtype == "F32") return std::bit_cast<float>(bits);
  return dtype == "F16" ? f16_to_float(static_cast<std::uint16_t>(bits))
                        : bf16_to_float(static_cast<std::uint16_t>(bits));
}

}  // namespace

void write_rounded_checkpoint(const fs::path& from, const fs::path& to) {
  RawSafetensors out;
  for (const auto& entry : fs::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    if (name.find("config") != std::string::npos) fs::copy_file(entry.path(), to / name);
    if (name.substr(0, 5) != "model" || entry.path().extension() != ".safetensors") continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    const Json header = Json::parse(bytes.substr(8, length));
    for (const auto& [tensor, description] : header.items()) {
      if (tensor == "__metadata__") continue;
      const std::string dtype = description.at("dtype");
      const auto begin = description.at("data_offsets")[0].get<std::int64_t>(),
                 end = description.at("data_offsets")[1].get<std::int64_t>();
      const auto* data = reinterpret_cast<const std::byte*>(bytes.data() + 8 + length) + begin;
      const auto first = out.data.size();
      for (std::int64_t i = 0; i < (end - begin) / (dtype == "F32" ? 4 : 2); ++i) {
        const std::uint16_t rounded = float_to_bf16(number(data, dtype, i));
        out.data.append(reinterpret_cast<const char*>(&rounded), 2);
      }
      out.header[tensor] = {
          {"dtype", "BF16"}, {"shape", description.at("shape")}, {"data_offsets", {first, out.data.size()}}};
    }
  }
  std::ofstream(to / "model.safetensors", std::ios::binary) << out.bytes();
}

}  // namespace buoy::testing
