#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "buoy/questions/item.h"
#include "buoy/world/world.h"

namespace buoy::world {

// `text` with the first `slot` replaced.
std::string with_slot(std::string text, const std::string& slot, const std::string& value);

// All these facts, whatever their order here: "birthplace: Dravburg; field: botany; ..." in the order of the
// tables.
std::string list_answer(const Person& person, std::vector<size_t> relations);

// The same facts as sentences in the order of the tables, the name first, then "She" or "He".
std::string life_answer(const Person& person, std::vector<size_t> relations);

// Tokens of a text of the world: runs of letters, of digits, of signs, and of line ends. A space belongs to
// what follows it.
std::uint32_t world_token_count(const std::string& text);

// Places in world2_tables().
struct PromptForm {
  size_t style = 0, wording = 0;
};

// The whole prompt of an item; it ends where the answer begins.
std::string write_prompt(const questions::Item& item, const PromptForm& form);

}  // namespace buoy::world
