#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/progress.h"
#include "buoy/retrieve/build_index.h"

namespace buoy::app {
namespace {

struct IndexCall {
  std::vector<std::string> documents;
  std::string out;
  retrieve::BuildOptions build;
};

constexpr std::uint64_t kStep = 1 << 10;  // progress counts in KiB

void print_result(const std::string& out, const retrieve::BuildResult& result) {
  const auto& made = result.description;
  std::uint64_t bytes = 0;
  for (const auto& source : made.sources) bytes += source.bytes;
  fmt::print("{}: {} of {} from {} ({})\n", out,
             counted(static_cast<std::uint64_t>(made.passages), "passage"),
             counted(static_cast<std::uint64_t>(made.documents), "document"),
             counted(made.sources.size(), "file"), describe_bytes(bytes));
  if (made.blank_documents > 0)
    fmt::print("  documents without a word, so without a passage: {}\n", made.blank_documents);
  if (result.passed_over > 0)
    fmt::print("  other files in the folders, passed over: {}\n", result.passed_over);
}

void index_documents(const IndexCall& call) {
  retrieve::BuildOptions options = call.build;
  std::optional<Progress> progress;
  std::uint64_t shown = 0;
  options.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!progress) progress.emplace(stderr, "indexing, KiB", static_cast<std::int64_t>(total / kStep));
    const std::uint64_t now = done / kStep;
    if (now <= shown) return;
    progress->advance(static_cast<std::int64_t>(now - shown));
    shown = now;
  };
  const auto result =
      retrieve::build_index({call.documents.begin(), call.documents.end()}, call.out, options);
  progress.reset();
  print_result(call.out, result);
}

}  // namespace

void add_index(Command& app) {
  auto* command = app.add_subcommand("index", "make documents searchable, for questions without passages");
  auto call = std::make_shared<IndexCall>();
  command->add_option("documents", call->documents, "files (.txt, .md, .jsonl, also .gz) and folders of them")
      ->required()
      ->type_name("DOCS");
  add_out_option(*command, call->out)->required();
  command->add_option("--passage-words", call->build.passages.words, "words of a passage, about (100)");
  command->add_option("--overlap", call->build.passages.overlap,
                      "words a passage repeats of the one before (0)");
  command->add_flag("--stem", call->build.stem, "English endings do not count: \"walked\" finds \"walking\"");
  command->add_flag("--force", call->build.replace, "replace DB if it exists");
  command->footer("docs/retrieval.md says what becomes a passage and how passages are ranked.");
  command->examples({{"buoy index wiki/ notes.md passages.jsonl.gz --out wiki.db", ""},
                     {"buoy search wiki.db \"Who painted the Night Watch?\"", ""}});
  command->callback([call] { index_documents(*call); });
}

}  // namespace buoy::app
