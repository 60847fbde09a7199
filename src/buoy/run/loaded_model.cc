#include "buoy/run/loaded_model.h"

#include <fmt/format.h>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"

namespace buoy::run {

bool has_tokenizer(const std::filesystem::path& folder) {
  return path_exists(folder / "tokenizer.json") ||
         (path_exists(folder / "vocab.json") && path_exists(folder / "merges.txt"));
}

void check_vocabulary(const text::Tokenizer& tokenizer, const ModelConfig& config,
                      const std::filesystem::path& folder) {
  if (tokenizer.id_limit() > config.vocabulary) {
    throw_input_error({folder.string(),
                       fmt::format("a tokenizer with ids below the embedding's {} rows", config.vocabulary),
                       fmt::format("ids up to {}", tokenizer.id_limit() - 1)});
  }
}

std::optional<text::Tokenizer> load_tokenizer(const std::filesystem::path& folder,
                                              const ModelConfig& config) {
  if (!has_tokenizer(folder)) return std::nullopt;
  auto tokenizer = text::Tokenizer::load(folder);
  check_vocabulary(tokenizer, config, folder);
  return tokenizer;
}

namespace {

LoadedModel with_tokenizer(model::Model model, const std::filesystem::path& folder) {
  LoadedModel loaded{std::move(model), std::nullopt};
  try {
    loaded.tokenizer = load_tokenizer(folder, loaded.model.config());
  } catch (const InputError&) {
    // Ids need none; need_tokenizer() tells whoever needs it what is wrong.
  }
  return loaded;
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& folder, Device device) {
  return with_tokenizer(model::Model::load(folder, device), folder);
}

LoadedModel make_untrained(const std::filesystem::path& folder, std::uint64_t seed, Device device) {
  return with_tokenizer(model::Model::untrained(folder, seed, device), folder);
}

const text::Tokenizer& need_tokenizer(const std::optional<text::Tokenizer>& tokenizer,
                                      const std::filesystem::path& folder) {
  if (tokenizer) return *tokenizer;
  load_tokenizer(folder, read_config(folder));  // says what is wrong with one that is there
  throw_input_error({folder.string(), "tokenizer.json, or vocab.json and merges.txt, to encode text",
                     "neither (with `ids` no tokenizer is needed)"});
}

}  // namespace buoy::run
