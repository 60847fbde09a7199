// buoy_export_world FOLDER [SEED [VERSION [COUNT]]]: a world that networks are trained on, as files.
//   tables.json      words, wordings and known people (read by build_tokenizer.py and world_data.py)
//   sets/*.jsonl     question sets
// The seed, 1 unless given, is that of the sets: another one asks other questions, about other unknown
// people. The world stays the same. Version 1, the default, is that of the bundled pair, version 2 that of
// the family. COUNT is the number of questions of each set (500).

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/world/world2_sets.h"
#include "buoy/world/world_items.h"
#include "buoy/world/world_json.h"

namespace {

using namespace buoy::world;

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

struct Call {
  std::filesystem::path folder;
  std::uint64_t seed = 1;
  std::uint32_t version = 1, count = 500;
};

void write_set(const Call& call, const std::string& name, const std::vector<buoy::questions::Item>& items) {
  std::string lines;
  for (const auto& item : items) lines += item_json(item).dump() + '\n';
  buoy::write_file_atomically(call.folder / "sets" / (name + ".jsonl"), lines);
}

void write_all(const Call& call) {
  const World world({.version = call.version});
  std::filesystem::create_directories(call.folder / "sets");
  buoy::write_file_atomically(call.folder / "tables.json", world_tables_json(world).dump() + '\n');
  if (call.version == 2) {
    for (const auto& [name, options] : world2_sets(call.seed, call.count)) {
      write_set(call, name, make_world2_set(world, options));
    }
    return;
  }
  for (auto [name, options] : question_sets()) {
    options.seed = call.seed;
    options.count = call.count;
    write_set(call, name, make_world_set(world, options));
  }
}

template <typename Number>
bool read_number(const char* text, Number& number) {
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, number);
  return read.ec == std::errc() && read.ptr == end;
}

}  // namespace

int main(int argc, char** argv) {
  Call call;
  const bool read = argc >= 2 && argc <= 5 && (argc < 3 || read_number(argv[2], call.seed)) &&
                    (argc < 4 || read_number(argv[3], call.version)) &&
                    (argc < 5 || read_number(argv[4], call.count));
  if (!read) {
    fmt::print(stderr, "usage: buoy_export_world FOLDER [SEED [VERSION [COUNT]]]\n");
    return 2;
  }
  try {
    call.folder = argv[1];
    write_all(call);
  } catch (const std::exception& error) {
    fmt::print(stderr, "buoy_export_world: {}\n", error.what());
    return 1;
  }
  return 0;
}
