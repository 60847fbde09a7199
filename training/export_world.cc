// buoy_export_world FOLDER [SEED]: the world the bundled pair is trained on, as files.
//   tables.json      words, wordings and known people (read by build_tokenizer.py and train_pair.py)
//   sets/*.jsonl     question sets
// The seed, 1 unless given, is that of the sets: another one asks other questions, about other unknown
// people. The world stays the same.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "evaluate/item_json.h"
#include "evaluate/world_items.h"
#include "evaluate/world_json.h"

namespace {

using namespace buoy::evaluate;

std::map<std::string, WorldSetOptions> question_sets() {
  std::map<std::string, WorldSetOptions> sets = {{"asked-closed", {.people = WorldPeople::kAsked}},
                                                 {"read-only-closed", {.people = WorldPeople::kReadOnly}},
                                                 {"unknown-closed", {}},
                                                 {"unknown-two-hop-2", {.passages = 2, .two_hop = true}},
                                                 {"unknown-two-hop-10", {.passages = 10, .two_hop = true}}};
  for (const std::uint32_t n : {1U, 2U, 5U, 10U, 20U}) sets[fmt::format("unknown-{}", n)] = {.passages = n};
  for (const WorldNoise noise : {WorldNoise::kSameRelation, WorldNoise::kSimilarName,
                                 WorldNoise::kContradiction, WorldNoise::kShuffled, WorldNoise::kRepeated}) {
    sets["unknown-10-" + name_of(noise)] = {.passages = 10, .noise = noise};
  }
  return sets;
}

void write_all(const std::filesystem::path& folder, std::uint64_t seed) {
  std::filesystem::create_directories(folder / "sets");
  const World world;
  buoy::write_file_atomically(folder / "tables.json", world_tables_json(world).dump() + '\n');
  for (auto [name, options] : question_sets()) {
    options.seed = seed;
    std::string lines;
    for (const auto& item : make_world_set(world, options)) lines += item_json(item).dump() + '\n';
    buoy::write_file_atomically(folder / "sets" / (name + ".jsonl"), lines);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1;
  const bool seed_read =
      argc < 3 || std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), seed).ec == std::errc();
  if (argc < 2 || argc > 3 || !seed_read) {
    fmt::print(stderr, "usage: buoy_export_world FOLDER [SEED]\n");
    return 2;
  }
  try {
    write_all(argv[1], seed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "buoy_export_world: {}\n", error.what());
    return 1;
  }
  return 0;
}
