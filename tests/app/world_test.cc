// Questions of the made-up world from the command line: the sets that training and results go by.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/world/world2_sets.h"
#include "buoy/world/world_request.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

using namespace buoy::world;

// training/export_world.cc writes these lines for the same seed.
std::string exported(const World2SetOptions& options) {
  std::string lines;
  for (const auto& item : make_world2_set(World({.version = 2}), options))
    lines += questions::item_json(item).dump() + '\n';
  return lines;
}

TEST(World, PrintsEverySetThatTrainingExports) {
  for (const auto& [name, options] : world2_sets(4, 2)) {
    std::vector<std::string> call = {"world",
                                     "--version",
                                     "2",
                                     "--task",
                                     name_of(options.task),
                                     "--people",
                                     name_of(options.people),
                                     "--count",
                                     std::to_string(options.count),
                                     "--seed",
                                     std::to_string(options.seed),
                                     "--passages",
                                     std::to_string(options.passages)};
    if (options.style) call.insert(call.end(), {"--label-style", label_style_names()[*options.style]});
    if (options.wording) call.insert(call.end(), {"--wording", wording_names()[*options.wording]});
    const auto result = run_buoy(call);
    EXPECT_EQ(result.exit_code, 0) << name << ": " << result.err;
    EXPECT_EQ(result.out, exported(options)) << name;
  }
}

TEST(World, RefusesOptionsOfTheOtherVersionByTheirFlags) {
  const auto refused = [](std::vector<std::string> call, const std::string& said) {
    call.insert(call.begin(), "world");
    const auto result = run_buoy(call);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_NE(result.err.find(said), std::string::npos) << result.err;
  };
  refused({"--task", "newest"}, "--task: expected it with version 2 of the world only, found version 1");
  refused({"--label-style", "none"}, "--label-style: expected it with version 2");
  refused({"--version", "2", "--gold-position", "1"}, "--gold-position: expected it with version 1");
  refused({"--version", "2", "--noise-kind", "random"}, "--noise-kind: expected it with version 1");
  refused({"--version", "2", "--two-hop"}, "--two-hop: expected in version 2 the task \"two-hop\"");
  refused({"--version", "2", "--task", "list"}, "--passages of task list: expected 1 or more, found 0");
  refused({"--version", "3"}, "--version");
}

// What a study makes is what the program prints, and its template renders the prompts of training.
TEST(World, AStudyMakesTheSameQuestions) {
  const TempFolder folder;
  const auto models = std::filesystem::path(BUOY_TEST_DATA).parent_path().parent_path() / "models";
  folder.write(
      "s.toml",
      "out = \"" + (folder / "out").string() + "\"\n[models]\nm = \"" +
          (models / "planted-autoregressive").string() +
          "\"\n[decoding]\nmax_new_tokens = 1\n[prompt]\nchat = \"never\"\nwith_passages = \"" +
          (models / "natural.prompt").string() +
          "\"\n[[data]]\nname = \"q\"\nworld = { version = 2, task = \"similar-names\", passages = 3, "
          "count = 2, seed = 9 }\n[[evaluate]]\nname = \"e\"\ndata = \"q\"\npassages = 3\n");
  const auto result = run_buoy({"study", (folder / "s.toml").string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const World2SetOptions options{.task = World2Task::kSimilarNames, .count = 2, .passages = 3, .seed = 9};
  EXPECT_EQ(read_file(folder / "out/data/q.jsonl"), exported(options));
  const std::string answers = read_file(folder / "out/evaluate/e/answers.jsonl");
  for (const auto& item : make_world2_set(World({.version = 2}), options))
    EXPECT_NE(answers.find(nlohmann::json(*item.prompt).dump()), std::string::npos) << item.id;
}

}  // namespace
}  // namespace buoy::testing
