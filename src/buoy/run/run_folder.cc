#include "buoy/run/run_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/sha256.h"
#include "buoy/shard/parent_folder.h"
#include "buoy/trace/folder.h"

namespace buoy::run {
namespace {

constexpr char kDescription[] = "run.json";
constexpr char kRetrieved[] = "retrieved";  // passages found before the run begins

struct Difference {
  std::string path;  // of keys
  Json stored, asked;
};

// Where two descriptions first differ.
std::optional<Difference> first_difference(const Json& stored, const Json& asked, const std::string& path) {
  if (!stored.is_object() || !asked.is_object())
    return stored == asked ? std::nullopt : std::optional(Difference{path, stored, asked});
  const auto inner = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& [key, value] : stored.items()) {
    if (!asked.contains(key)) return Difference{inner(key), value, nullptr};
    if (const auto found = first_difference(value, asked[key], inner(key))) return found;
  }
  for (const auto& [key, value] : asked.items()) {
    if (!stored.contains(key)) return Difference{inner(key), nullptr, value};
  }
  return std::nullopt;
}

// The same weights are the same model, wherever they lie.
Json without_commits(Json description) {
  if (!description.is_object() || !description.contains("models")) return description;
  for (Json& model : description["models"]) {
    if (model.is_object()) model.erase("commit");
  }
  return description;
}

// Refuses a folder with another run or with anything else in it.
void check_run_folder(const std::filesystem::path& folder, const Json& description, bool resume) {
  const auto file = folder / kDescription;
  if (path_exists(file)) {
    require_same_description(file, description);
    if (!resume)
      throw_usage_error(
          {folder.string(), "an empty folder, or `resume` to go on with the run in it", "a run"});
    return;
  }
  if (!path_exists(folder) || !is_folder(folder)) return;
  for (const auto& path : trace::list_folder(folder)) {
    if (path.filename() != kRetrieved && path.filename() != shard::kPartFile &&
        !trace::is_partial_file(path) && !is_begun_and_empty(path))
      throw_input_error({folder.string(), "an empty folder or a run of buoy eval", path.filename().string()});
  }
}

template <typename Open>
auto open_folder(const std::filesystem::path& folder, const Json& description, bool resume,
                 const Open& open) {
  check_run_folder(folder, description, resume);  // before anything is touched
  make_folder(folder);
  auto answers = open();
  check_run_folder(folder, description, resume);  // again: only now nobody else writes
  trace::remove_partial_files(folder);
  const auto file = folder / kDescription;
  if (!path_exists(file)) write_file_atomically(file, dump_json(description, 2) + '\n');
  return answers;
}

}  // namespace

DataFacts scan_data(const NamedPath& data, const questions::ReadOptions& options) {
  DataFacts facts;
  questions::ItemReader reader(data.path, options);
  while (const auto item = reader.next()) {
    ++facts.items;
    facts.with_passages += item->passages.empty() ? 0 : 1;
    if (facts.ready.empty() && item->prompt && !item->question.empty()) facts.ready = item->id;
    facts.ids.push_back(item->id);
    std::size_t passages = 0;
    for (const auto& passage : item->passages) passages += passage.title.size() + passage.text.size();
    facts.bytes.push_back({item->question.size(), passages});
  }
  facts.sha256 = sha256_of_file(data.path);
  return facts;
}

void require_same_description(const std::filesystem::path& file, const Json& asked) {
  const Json stored = read_json_file(file);
  const auto difference = first_difference(without_commits(stored), without_commits(asked), "");
  if (!difference) return;
  const std::string where = difference->path.empty() ? "" : ": " + difference->path;
  throw_input_error(
      {file.string() + where, "the same as in this run (another `out`, or remove the folder)",
       fmt::format("{} there, {} now", dump_json(difference->stored), dump_json(difference->asked))});
}

AnswerFile open_run_folder(const std::filesystem::path& folder, const Json& description, bool resume) {
  return open_folder(folder, description, resume, [&] { return AnswerFile(folder); });
}

AnswerPart open_part_folder(const std::filesystem::path& folder, const Json& description,
                            const AnswerPart::NumberOf& number_of) {
  return open_folder(folder, description, true, [&] { return AnswerPart(folder, number_of); });
}

}  // namespace buoy::run
