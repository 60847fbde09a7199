#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/world/world_noise.h"
#include "buoy/world/world_people.h"
#include "buoy/world/world_request.h"

namespace buoy::app {
namespace {

using world::WorldNoise;

struct WorldCall {
  world::WorldRequest request;
  std::string out;
};

const std::map<std::string, WorldNoise>& noise_by_name() {
  static const std::map<std::string, WorldNoise> all = [] {
    std::map<std::string, WorldNoise> names;
    for (const auto noise :
         {WorldNoise::kRandom, WorldNoise::kIrrelevant, WorldNoise::kSameRelation, WorldNoise::kSimilarName,
          WorldNoise::kContradiction, WorldNoise::kShuffled, WorldNoise::kRepeated})
      names[world::name_of(noise)] = noise;
    return names;
  }();
  return all;
}

template <typename Value>
std::vector<std::string> keys(const std::map<std::string, Value>& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

void write_world(const WorldCall& call) {
  std::string lines;
  for (const auto& item : world::make_questions(call.request))
    lines += dump_json(questions::item_json(item)) + '\n';
  if (call.out.empty()) {
    fmt::print("{}", lines);
  } else {
    write_file_atomically(call.out, lines);
  }
}

}  // namespace

void add_world(Command& app) {
  auto* command = app.add_subcommand("world", "questions about a made-up world, with exact ground truth");
  auto call = std::make_shared<WorldCall>();
  auto& request = call->request;
  add_world_version_option(*command, request.version);
  command
      ->add_option("--people", request.people,
                   "asked: known, asked about in training; read-only: known, only read about; unknown "
                   "(default): answerable from passages alone")
      ->one_of(world::world_people_names());
  command->add_option("--count", request.count, "questions (500)")->positive();
  add_passages_option(*command, request.passages);
  add_gold_position_option(*command, request.gold_position);
  add_noise_kind_option(*command, request.noise_kind, keys(noise_by_name()))->alias("--noise");
  command->add_flag("--two-hop", request.two_hop, "ask about somebody's mentor or spouse");
  command->add_option("--task", request.task, "version 2: what is asked (default lookup)")
      ->one_of(world::world2_task_names())
      ->type_name("TASK");
  command
      ->add_option("--label-style", request.label_style,
                   "version 2: how passages are set apart (default: drawn for every question)")
      ->one_of(world::label_style_names());
  command
      ->add_option("--wording", request.wording,
                   "version 2: the words around passages and question (default: drawn for every question)")
      ->one_of(world::wording_names());
  add_seed_option(*command, request.seed);
  add_out_option(*command, call->out);
  command->footer(fmt::format(
      "Prints the questions unless --out names a file. The bundled networks (models/) know this world.\n"
      "KINDs of noise (version 1): {}.\nTASKs (version 2): {}.",
      fmt::join(keys(noise_by_name()), ", "), fmt::join(world::world2_task_names(), ", ")));
  command->examples({{"buoy world --passages 10 --count 5 --out questions.jsonl", ""},
                     {"buoy world --version 2 --task newest --passages 5 --count 5", ""}});
  command->callback([call] { write_world(*call); });
}

}  // namespace buoy::app
