#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/prompt_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/container/npz.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"

namespace buoy::app {
namespace {

struct ForwardOptions {
  ModelOptions model;
  PromptOptions prompt;
  std::string out;
  std::vector<std::string> dump = {"logits"};
};

const std::set<std::string> kDumps = {"logits", "attention", "queries", "keys"};

// Writes what a layer's attention saw, layer by layer, as the forward pass reaches it.
class DumpProbe final : public probe::Probe {
 public:
  DumpProbe(const std::set<std::string>& wanted, NpzWriter& out) : wanted_(wanted), out_(out) {}

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest request;
    request.dense = wanted_.contains("attention");
    request.states = wanted_.contains("queries") || wanted_.contains("keys");
    return request;
  }

  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    const std::string layer = fmt::format("layer_{}_", address.layer);
    const probe::LayerStates& s = record.states;
    if (wanted_.contains("attention")) {
      out_.add(layer + "full_attention_heads", record.dense, {s.heads, s.query_rows, s.key_rows});
    }
    if (wanted_.contains("queries"))
      add_heads(layer + "query_states", s.queries, s.query_rows, s.heads, s.head_dim);
    if (wanted_.contains("keys")) add_heads(layer + "key_states", s.keys, s.key_rows, s.kv_heads, s.head_dim);
  }

 private:
  // [rows, heads, dim] to [heads, rows, dim].
  void add_heads(const std::string& name, const float* states, std::int64_t rows, std::int64_t heads,
                 std::int64_t dim) {
    buffer_.resize(static_cast<size_t>(heads * rows * dim));
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t r = 0; r < rows; ++r) {
        std::copy_n(states + (r * heads + h) * dim, dim, buffer_.data() + (h * rows + r) * dim);
      }
    }
    out_.add(name, buffer_, {heads, rows, dim});
  }

  const std::set<std::string>& wanted_;
  NpzWriter& out_;
  std::vector<float> buffer_;
};

std::uint64_t dump_bytes(const ModelConfig& c, std::uint64_t tokens, const std::set<std::string>& wanted) {
  std::uint64_t numbers = 0;
  const auto layers = static_cast<std::uint64_t>(c.layers), heads = static_cast<std::uint64_t>(c.heads);
  if (wanted.contains("logits")) numbers += tokens * static_cast<std::uint64_t>(c.vocabulary);
  if (wanted.contains("attention")) numbers += layers * heads * tokens * tokens;
  if (wanted.contains("queries")) numbers += layers * heads * tokens * static_cast<std::uint64_t>(c.head_dim);
  if (wanted.contains("keys"))
    numbers += layers * static_cast<std::uint64_t>(c.kv_heads * c.head_dim) * tokens;
  return numbers * sizeof(float);
}

void forward(const ForwardOptions& options) {
  std::set<std::string> wanted;
  for (const auto& name : options.dump) {
    if (!kDumps.contains(name))
      throw_usage_error({"--dump", "logits, attention, queries or keys", '"' + name + '"'});
    wanted.insert(name);
  }
  auto [model, tokenizer] = load_model(options.model);
  const auto prompt = make_prompt(options.prompt, model.checkpoint().folder(), tokenizer);
  say("{}, writing {} to {}\n", counted(prompt.ids.size(), "token"),
      describe_bytes(dump_bytes(model.config(), prompt.ids.size(), wanted)), options.out);

  ThreadPool threads(thread_count(options.model));
  const Context context{threads};
  NpzWriter out(options.out);
  DumpProbe probe(wanted, out);
  std::vector<std::int32_t> rows;
  if (wanted.contains("logits")) {
    rows.resize(prompt.ids.size());
    std::iota(rows.begin(), rows.end(), 0);
  }
  const std::vector<model::SequenceInput> inputs = {{prompt.ids, rows, nullptr}};
  const float* logits = model.forward(context, inputs, &probe);
  if (wanted.contains("logits")) {
    const auto tokens = static_cast<std::int64_t>(prompt.ids.size());
    out.add("logits", {logits, static_cast<size_t>(tokens * model.config().vocabulary)},
            {tokens, model.config().vocabulary});
  }
  out.finish();
}

}  // namespace

void add_forward(Command& app) {
  auto* command = app.add_subcommand("forward", "one forward pass, dumped for numpy");
  auto options = std::make_shared<ForwardOptions>();
  add_model_options(*command, options->model);
  add_prompt_options(*command, options->prompt);
  add_ids_option(*command, options->prompt);
  add_out_option(*command, options->out)->required();
  command
      ->add_option("--dump", options->dump, "what to write: logits,attention,queries,keys (default: logits)")
      ->delimiter(',');
  command->footer(
      "Run one forward pass over a sequence and write float32 arrays that numpy.load opens:\n"
      "  logits                          [T, V]\n"
      "  layer_{l}_full_attention_heads  [H, T, T]   softmax weights (T x T: ask for it on short inputs)\n"
      "  layer_{l}_query_states          [H, T, d]   after norm and rotation, as the softmax sees them\n"
      "  layer_{l}_key_states            [KV, T, d]");
  command->examples(
      {{"buoy forward --model models/natural-diffusion --ids 1,2,3 --out pass.npz --dump logits,attention",
        ""}});
  command->callback([options] { forward(*options); });
}

}  // namespace buoy::app
