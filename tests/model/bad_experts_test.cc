// Weights of experts that do not fit their config: missing, doubled, in two layouts at once, of another
// shape.

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/mapped_file.h"
#include "buoy/model/model.h"
#include "support/fails_with.h"
#include "support/family_case.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using namespace testing;
using model::Model;

// A copy of a case whose tensors can be changed.
class EditedFamily {
 public:
  explicit EditedFamily(const std::string& name, const Json& keys = Json::object()) : copy_(name, keys) {
    const auto path = family_folder(name) / "model.safetensors";
    const MappedFile mapped(path);
    for (const auto& [tensor, entry] : parse_safetensors(mapped.bytes(), path.string()).tensors) {
      const auto* data = reinterpret_cast<const char*>(entry.data.data());
      tensors[tensor] = {tensor, entry.dtype, entry.shape, {data, entry.data.size()}};
    }
  }

  auto loading() const {
    RawSafetensors raw;
    for (const auto& [name, tensor] : tensors) {
      const size_t begin = raw.data.size();
      raw.data += tensor.bytes;
      raw.header[name] = {
          {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, raw.data.size()}}};
    }
    const auto path = copy_.folder() / "model.safetensors";
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << raw.bytes();
    return [this] { Model::load(copy_.folder()); };
  }

  const std::filesystem::path& folder() const { return copy_.folder(); }

  std::map<std::string, TinyTensor> tensors;

 private:
  ChangedFamily copy_;
};

void copy_tensor(EditedFamily& edited, const std::string& from, const std::string& to) {
  edited.tensors[to] = edited.tensors.at(from);
}

constexpr const char* kGate0 = "model.layers.0.mlp.experts.0.gate_proj.weight";

TEST(BadExperts, EveryMissingTensorIsNamed) {
  for (const char* name : {"qwen3-moe-stacked-f32", "mixtral-f32", "llada-moe-bias-f32", "llada2-f32"}) {
    EditedFamily edited(name);
    EXPECT_NO_THROW(edited.loading()());
    const auto all = edited.tensors;
    for (const auto& [tensor, data] : all) {
      edited.tensors = all;
      edited.tensors.erase(tensor);
      // Of two stacked tensors, the other one is looked for; without both, the experts one by one.
      EXPECT_TRUE(
          fails_with<InputError>(edited.loading(), {"expected tensor " + tensor, "found no such tensor"}));
    }
  }
}

TEST(BadExperts, OneTooManyIsNamed) {
  EditedFamily edited("qwen3-moe-f32");
  copy_tensor(edited, kGate0, "model.layers.0.mlp.experts.8.gate_proj.weight");
  EXPECT_TRUE(fails_with<InputError>(
      edited.loading(), {"model.layers.0.mlp.experts.8.gate_proj.weight", "Qwen3MoeForCausalLM"}));
  // In a layer that the config leaves dense.
  EditedFamily dense("llada2-f32");
  copy_tensor(dense, "model.layers.1.mlp.gate.weight", "model.layers.0.mlp.gate.weight");
  EXPECT_TRUE(fails_with<InputError>(dense.loading(), {"model.layers.0.mlp.gate.weight"}));
}

TEST(BadExperts, FewerThanTheConfigSays) {
  EditedFamily edited("mixtral-f32", {{"num_local_experts", 5}});
  EXPECT_TRUE(fails_with<InputError>(
      edited.loading(), {"model.layers.0.block_sparse_moe.gate.weight", "expected shape [5, 16]"}));
  edited.tensors.at("model.layers.0.block_sparse_moe.gate.weight").shape = {5, 16};
  edited.tensors.at("model.layers.0.block_sparse_moe.gate.weight").bytes.resize(5 * 16 * 4, '\0');
  EXPECT_TRUE(fails_with<InputError>(
      edited.loading(),
      {"expected tensor model.layers.0.block_sparse_moe.experts.4.w1.weight", "found no such tensor"}));
}

TEST(BadExperts, BothLayoutsAtOnce) {
  EditedFamily edited("qwen3-moe-stacked-f32");
  TinyTensor one = edited.tensors.at("model.layers.0.mlp.experts.down_proj");
  const std::int64_t columns = one.shape[2];
  one.shape = {one.shape[1], columns};
  one.bytes.resize(static_cast<size_t>(one.shape[0] * columns * 4));
  edited.tensors["model.layers.0.mlp.experts.2.down_proj.weight"] = one;
  EXPECT_TRUE(fails_with<InputError>(
      edited.loading(),
      {"model.layers.0.mlp.experts.2.down_proj.weight",
       "expected experts in one layout: model.layers.0.mlp.experts.gate_up_proj", "found both"}));
}

TEST(BadExperts, ShapesAreChecked) {
  struct Case {
    const char *name, *tensor;
  };
  for (const auto& c : {Case{"qwen3-moe-stacked-f32", "model.layers.0.mlp.experts.gate_up_proj"},
                        {"qwen3-moe-stacked-f32", "model.layers.0.mlp.experts.down_proj"},
                        {"llada2-f32", "model.layers.1.attention.query_key_value.weight"},
                        {"llada2-f32", "model.layers.1.mlp.gate.expert_bias"},
                        {"llada2-f32", "model.layers.1.mlp.shared_experts.up_proj.weight"},
                        {"llada-moe-bias-f32", "model.layers.1.mlp.expert_bias"},
                        {"mixtral-f32", "model.layers.1.block_sparse_moe.experts.3.w2.weight"}}) {
    EditedFamily edited(c.name);
    TinyTensor& tensor = edited.tensors.at(c.tensor);
    tensor.shape.front() *= 2;
    tensor.bytes += tensor.bytes;
    EXPECT_TRUE(fails_with<InputError>(edited.loading(), {c.tensor, "expected shape", "found shape"}))
        << c.tensor;
  }
}

TEST(BadExperts, ARouterOfAnotherType) {
  for (const char* tensor : {"model.layers.1.mlp.gate.weight", "model.layers.1.mlp.gate.expert_bias",
                             "model.layers.1.mlp.experts.3.up_proj.weight"}) {
    EditedFamily edited("llada2-f32");
    edited.tensors.at(tensor).dtype = "I32";
    EXPECT_TRUE(
        fails_with<InputError>(edited.loading(), {tensor, "expected type F32, F16 or BF16", "found I32"}))
        << tensor;
  }
}

// The same expert in two files of one checkpoint.
TEST(BadExperts, ADoubledExpertIsNamed) {
  EditedFamily edited("qwen3-moe-f32");
  RawSafetensors raw;
  const TinyTensor& gate = edited.tensors.at(kGate0);
  raw.header[kGate0] = {
      {"dtype", gate.dtype}, {"shape", gate.shape}, {"data_offsets", {0, gate.bytes.size()}}};
  raw.data = gate.bytes;
  Json index;
  for (const auto& [name, tensor] : edited.tensors)
    index["weight_map"][name] = "model-00001-of-00002.safetensors";
  index["weight_map"][kGate0] = "model-00002-of-00002.safetensors";
  (void)edited.loading();  // writes the file
  std::filesystem::rename(edited.folder() / "model.safetensors",
                          edited.folder() / "model-00001-of-00002.safetensors");
  std::ofstream(edited.folder() / "model-00002-of-00002.safetensors", std::ios::binary) << raw.bytes();
  std::ofstream(edited.folder() / "model.safetensors.index.json") << to_text(index);
  EXPECT_TRUE(fails_with<InputError>(
      [&] { Model::load(edited.folder()); },
      {kGate0, "expected an entry in the index for this file", "found model-00002-of-00002.safetensors"}));
}

TEST(BadExperts, ABiasThatTheConfigDoesNotKnow) {
  EditedFamily edited("llada-moe-bias-f32", {{"moe_router_enable_expert_bias", false}});
  EXPECT_TRUE(fails_with<InputError>(edited.loading(), {"model.layers.1.mlp.expert_bias"}));
}

TEST(BadExperts, ARouterThatIsNotFinite) {
  EditedFamily edited("qwen3-moe-f32");
  auto& bytes = edited.tensors.at("model.layers.2.mlp.gate.weight").bytes;
  std::memset(bytes.data(), 0xff, 4);
  edited.loading()();
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        ThreadPool threads(1);
        Model model = Model::load(edited.folder());
        const std::vector<std::int32_t> tokens = {1, 2}, rows = {1};
        const model::SequenceInput input{tokens, rows};
        model.forward({threads}, {&input, 1});
      },
      {"the router of layer 2", "model.layers.2.mlp.gate.weight"}));
}

}  // namespace
}  // namespace buoy
