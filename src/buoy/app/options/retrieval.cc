#include "buoy/app/options/retrieval.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/file/atomic_file.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/questions/data/evidence.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/retrieve/index.h"

namespace buoy::app {
namespace {

questions::Item with_hits(questions::Item item, const retrieve::Index& index, std::size_t top) {
  item.passages.clear();
  item.prompt.reset();
  for (auto& hit : index.search(item.question, top)) {
    const bool answer = !questions::find_evidence(hit.text, item.answers).empty();
    item.passages.push_back({std::move(hit.title), std::move(hit.text), false, answer});
  }
  return item;
}

void search_all(const NamedPath& data, const questions::ReadOptions& read, const retrieve::Index& index,
                std::size_t top, const std::filesystem::path& out) {
  AtomicFile file(out);
  questions::ItemReader reader(data.path, read);
  std::size_t items = 0, found = 0;
  while (auto item = reader.next()) {
    const auto filled = with_hits(std::move(*item), index, top);
    ++items;
    for (const auto& passage : filled.passages) {
      if (!passage.has_answer.value_or(false)) continue;
      ++found;
      break;
    }
    file.write(dump_json(questions::item_json(filled)) + '\n');
  }
  file.commit();
  say("{}: searched {}; an answer stands in the first {} of {}\n", data.name, counted(items, "question"),
      counted(top, "passage"), found);
}

}  // namespace

void add_retrieval_options(Command& command, RetrievalOptions& options, const std::string& group) {
  auto* index = command
                    .add_option("--retrieve", options.index,
                                "take passages from this index (made by buoy index) instead of the data's")
                    ->type_name("DB")
                    ->group(group);
  add_top_option(command, options.top)->needs(index)->group(group);
}

std::vector<NamedPath> with_retrieved_passages(const RetrievalOptions& options,
                                               const std::vector<NamedPath>& data,
                                               const questions::ReadOptions& read,
                                               const std::filesystem::path& run_folder) {
  if (options.index.empty()) return data;
  const auto index = retrieve::Index::open(options.index);
  const auto folder = run_folder / "retrieved";
  make_folder(folder);
  std::vector<NamedPath> out;
  for (const auto& set : data) {
    const auto file =
        folder / fmt::format("{}-{}-top{}.jsonl", set.name, index.identity().substr(0, 12), options.top);
    if (!path_exists(file)) search_all(set, read, index, options.top, file);
    out.push_back({set.name, file});
  }
  return out;
}

}  // namespace buoy::app
