#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/questions/item.h"
#include "buoy/world/world2_items.h"
#include "buoy/world/world_items.h"

namespace buoy::world {

// A question set of either version of the world in the words of the command line and of studies.
struct WorldRequest {
  std::uint32_t version = 1;
  std::string people = "unknown";
  std::uint32_t count = 500;
  std::uint32_t passages = 0;  // 0: closed book
  std::uint64_t seed = 1;

  // Version 1 alone.
  std::uint32_t gold_position = 0;  // counted from 1; 0: drawn for every item
  std::string noise_kind = {};      // "": random
  bool two_hop = false;

  // Version 2 alone.
  std::string task = {};         // "": lookup
  std::string label_style = {};  // of passages; "": drawn for every item
  std::string wording = {};      // of the prompt; "": drawn for every item
};

std::vector<std::string> world2_task_names();
std::vector<std::string> label_style_names();
std::vector<std::string> wording_names();

// UsageError for names that nothing has, and for what the other version alone understands: nothing that was
// asked for is left out in silence.
WorldSetOptions world1_options(const WorldRequest& request);
World2SetOptions world2_options(const WorldRequest& request);
std::vector<questions::Item> make_questions(const WorldRequest& request);

}  // namespace buoy::world
