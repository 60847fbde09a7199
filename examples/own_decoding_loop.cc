// A decoding loop of one's own for masked-diffusion models: each step reveals the leftmost masks, a few at a
// time, whatever their confidence; beside it Buoy's own loop, which reveals the most confident ones.
//   own_decoding_loop MODEL_FOLDER PROMPT [TOKENS_PER_STEP]

#include <buoy/buoy.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace buoy;

// A loop turned inside out: it says what to run next, is handed the logits, and moves one step. Many such
// machines can share one forward (decode::drive), and a probe can watch every step.
class LeftToRight : public decode::StepMachine {
 public:
  struct Options {
    std::int32_t max_new_tokens, per_step, mask_token;
  };

  LeftToRight(std::span<const std::int32_t> prompt, const Options& options)
      : StepMachine(prompt, options.max_new_tokens), options_(options) {
    row_.resize(row_.size() + static_cast<size_t>(options.max_new_tokens), options.mask_token);
    revealed_at_.resize(row_.size(), -1);
  }

  bool finished() const override { return next_mask() == row_.size(); }

  // One forward over the whole row, with the logits of the positions that are revealed in this step.
  std::vector<model::SequenceInput> next_forwards() override {
    wanted_.clear();
    for (size_t at = next_mask(); at < row_.size() && std::ssize(wanted_) < options_.per_step; ++at)
      wanted_.push_back(static_cast<std::int32_t>(at));
    return {{.tokens = row_, .logit_rows = wanted_}};
  }

  decode::StepRecord advance(std::span<const decode::LogitRows> logits) override {
    decode::StepRecord record{.step = step_, .steps = options_.max_new_tokens, .reveals = {}};
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const auto scores = logits[0].row(i);
      const auto best = std::ranges::max_element(scores);
      reveal(record, wanted_[i], static_cast<std::int32_t>(best - scores.begin()), *best);
    }
    ++step_;
    return record;
  }

 private:
  size_t next_mask() const {
    return static_cast<size_t>(std::ranges::find(row_, options_.mask_token) - row_.begin());
  }

  Options options_;
  std::vector<std::int32_t> wanted_;
};

int main(int argc, char** argv) try {
  if (argc < 3) throw UsageError("expected: own_decoding_loop MODEL_FOLDER PROMPT [TOKENS_PER_STEP]");
  auto loaded = run::load_model(argv[1]);
  auto& model = loaded.model;
  const auto& tokenizer = run::need_tokenizer(loaded.tokenizer, argv[1]);
  const auto prompt = tokenizer.encode(argv[2], true).ids;
  if (!model.config().mask_token) throw UsageError("expected a masked-diffusion model");

  LeftToRight ours(prompt, {.max_new_tokens = 8,
                            .per_step = argc > 3 ? std::max(1, std::atoi(argv[3])) : 1,
                            .mask_token = *model.config().mask_token});
  const auto theirs = run::make_machine(model, {.max_new_tokens = 8}, prompt, loaded.tokenizer);

  // Both at once: each gives the tokens it would give alone.
  ThreadPool threads(available_threads());
  const std::vector<decode::StepMachine*> machines = {&ours, theirs.get()};
  decode::drive({threads}, model, machines,
                [&](size_t sequence, const decode::StepMachine& machine, const decode::StepRecord& record) {
                  if (sequence == 0)
                    std::printf("step %d: %s\n", record.step,
                                tokenizer.decode(machine.generated(), false).c_str());
                });
  std::printf("left to right:   %s\n", tokenizer.decode(ours.generated(), true).c_str());
  std::printf("most confident:  %s\n", tokenizer.decode(theirs->generated(), true).c_str());
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
