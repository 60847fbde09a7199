// Loads a model, runs one forward over a text, and prints which token receives most attention in every layer.
//   watch_one_forward MODEL_FOLDER TEXT

#include <buoy/buoy.h>

#include <algorithm>
#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 3) throw buoy::UsageError("expected: watch_one_forward MODEL_FOLDER TEXT");
  auto loaded = buoy::run::load_model(argv[1]);  // a folder as Hugging Face lays it out
  const auto& tokenizer = buoy::run::need_tokenizer(loaded.tokenizer, argv[1]);
  const auto tokens = tokenizer.encode(argv[2], true).ids;

  // A probe is asked before a layer runs what it wants, and handed it afterwards; this one prints it.
  buoy::probe::Watch watch({.received = true}, [&](const auto& address, const auto& record) {
    // record.received is [heads, tokens], summed over the queries. Every query gives away 1 in every head.
    std::vector<double> share(tokens.size());
    for (size_t i = 0; i < record.received.size(); ++i)
      share[i % tokens.size()] += record.received[i] / static_cast<double>(record.received.size());
    const auto most = static_cast<size_t>(std::ranges::max_element(share) - share.begin());
    std::printf("layer %d: %4.1f%% of the attention goes to token %zu, '%s'\n",
                static_cast<int>(address.layer), 100 * share[most], most,
                tokenizer.token_text(tokens[most]).c_str());
  });

  buoy::ThreadPool threads(buoy::available_threads());
  const buoy::model::SequenceInput input{.tokens = tokens};  // one sequence; no logits are asked for
  loaded.model.forward({threads}, {&input, 1}, &watch);
} catch (const buoy::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
