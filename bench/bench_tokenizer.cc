#include <fmt/format.h>

#include <filesystem>

#include "bench/measure.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::bench {
namespace {

constexpr const char* kParagraph =
    "The first lighthouse of the island was built in 1857, after \"three ships\" (one of them carrying salt) "
    "had run "
    "aground on its northern reef. It's 31 metres tall; its lamp, a Fresnel lens of the second order, could "
    "be seen "
    "for 24 nautical miles.\n\nDer Leuchtturm wurde 1931 elektrifiziert. 灯台は1931年に電化された。\n"
    "    if (lamp.is_lit()) { log(\"seen from %d km\", 44); }\n";

}  // namespace

void bench_tokenizers(const std::string& root, const Report& report) {
  std::string text;
  while (text.size() < (1u << 20)) text += kParagraph;
  for (const char* name : {"llama3", "qwen2_5", "qwen3"}) {
    const auto folder = std::filesystem::path(root) / name;
    if (!std::filesystem::exists(folder / "tokenizer.json")) continue;
    const double load = median_seconds([&] { text::Tokenizer::load(folder); });
    report({fmt::format("tokenizer load: {}", name), load, load, "s", 0});
    const auto tokenizer = text::Tokenizer::load(folder);
    const double seconds = median_seconds([&] { tokenizer.encode(text, false); });
    report({fmt::format("tokenizer encode: {}, 1 MB of mixed text", name), seconds,
            static_cast<double>(text.size()) / seconds / 1e6, "MB/s", 0});
  }
}

}  // namespace buoy::bench
