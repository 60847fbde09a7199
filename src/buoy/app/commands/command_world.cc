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
#include "buoy/world/world_items.h"
#include "buoy/world/world_people.h"

namespace buoy::app {
namespace {

using world::WorldNoise;

struct WorldCall {
  world::WorldSetOptions set;
  std::string people = "unknown", noise = "random", out;
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
  world::WorldSetOptions options = call.set;
  options.people = world::world_people(call.people);
  options.noise = noise_by_name().at(call.noise);
  std::string lines;
  for (const auto& item : world::make_world_set(world::World(), options))
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
  command
      ->add_option("--people", call->people,
                   "asked: known, asked about in training; read-only: known, only read about; unknown "
                   "(default): answerable from passages alone")
      ->one_of(world::world_people_names());
  command->add_option("--count", call->set.count, "questions (500)")->positive();
  add_passages_option(*command, call->set.passages);
  add_gold_position_option(*command, call->set.gold_position);
  add_noise_kind_option(*command, call->noise, keys(noise_by_name()))->alias("--noise");
  command->add_flag("--two-hop", call->set.two_hop, "ask about somebody's mentor or spouse");
  add_seed_option(*command, call->set.seed);
  add_out_option(*command, call->out);
  command->footer(
      fmt::format("Prints the questions unless --out names a file. The bundled pair (models/) knows "
                  "this world.\nKINDs of noise: {}.",
                  fmt::join(keys(noise_by_name()), ", ")));
  command->examples({{"buoy world --passages 10 --count 5 --out questions.jsonl", ""}});
  command->callback([call] { write_world(*call); });
}

}  // namespace buoy::app
