#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/error.h"
#include "buoy/checkpoint/checkpoint.h"
#include "buoy/checkpoint/weights_identity.h"
#include "support/temp_folder.h"

// Any bytes as the weights of a folder, through opening, every tensor and the identity that eval, study and
// trace begin with. The first byte says how: one file; or an index, a zero byte, and its one shard. Only
// buoy::Error may come out.

namespace {

constexpr std::string_view kConfig =
    R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,)"
    R"( "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 8, "max_position_embeddings": 16,)"
    R"( "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "tie_word_embeddings": true, "eos_token_id": 0})";

void expect(bool promise) {
  if (!promise) std::abort();
}

void look_at(const std::filesystem::path& folder) {
  auto checkpoint = buoy::Checkpoint::open(folder);
  expect(buoy::weights_identity(checkpoint).size() == 64);
  expect(buoy::weights_identity(checkpoint) == buoy::weights_identity(buoy::Checkpoint::open(folder)));
  expect(!checkpoint.files().empty());
  checkpoint.find_non_finite();
  for (const auto& name : checkpoint.tensor_names()) {
    expect(checkpoint.has(name));
    try {
      const auto weight = checkpoint.weight(name, {2, 2});
      expect(weight.size() == 4);
    } catch (const buoy::InputError&) {
    }
  }
  checkpoint.refuse_unused();
}

std::string valid_file() {
  const std::string data(16, '\0');
  const std::vector<buoy::SafetensorsTensor> tensors = {
      {"a", "F32", {2, 2}, std::as_bytes(std::span(data))},
      {"b", "BF16", {2, 2}, std::as_bytes(std::span(data)).first(8)}};
  return buoy::format_safetensors(tensors, {{"format", "pt"}});
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Half of the time the length in front of the header is put right, so that more than the length is tried.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  std::minstd_rand random(seed + 1);
  if (size < 10) {
    const std::string file = '\0' + valid_file();
    if (file.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::memcpy(data, file.data(), file.size());
    return file.size();
  }
  size = LLVMFuzzerMutate(data, size, most);
  if (size < 10 || random() % 2 == 0) return size;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t begin = 1;
  if ((data[0] & 1) != 0) begin = std::min(text.find('\0', 1), size) + 1;
  const std::size_t end = text.rfind('}');
  if (begin + 8 > size || end == std::string_view::npos || end < begin + 8) return size;
  const std::uint64_t length = end + 1 - begin - 8;
  std::memcpy(data + begin, &length, 8);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const buoy::testing::TempFolder folder;
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  folder.write("config.json", kConfig);
  std::filesystem::remove(folder / "model.safetensors.index.json");
  std::filesystem::remove(folder / "model.safetensors");
  std::filesystem::remove(folder / "a.safetensors");
  if ((data[0] & 1) != 0) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    folder.write("model.safetensors.index.json", rest.substr(0, end));
    folder.write("a.safetensors", rest.substr(std::min(end + 1, rest.size())));
  } else {
    folder.write("model.safetensors", rest);
  }
  try {
    look_at(folder.path());
  } catch (const buoy::InternalError&) {
    std::abort();
  } catch (const buoy::Error&) {
  }
  return 0;
}
