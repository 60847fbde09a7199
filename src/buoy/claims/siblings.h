#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "buoy/claims/quantities.h"

// Numbers of networks that were measured elsewhere: the table claim_quantities, written and read back.
namespace buoy::claims {

Table quantities_table(std::span<const NetworkQuantity> quantities);

struct StoredQuantity {
  NetworkQuantity quantity;
  std::string rules;  // that it was measured for: their hash
};

// From a file claim_quantities.csv. Columns may come in any order, with others between them. InputError names
// file, line, column, what was expected and what was found.
std::vector<StoredQuantity> read_quantities(const std::filesystem::path& file);

struct Siblings {
  std::vector<NetworkQuantity> quantities;  // those that count; `data` is that of the own numbers
  std::vector<std::string> notes;           // who does not count and why, a sentence each
};

// Those with the rules of this program and the questions of an own number of the same claim and quantity.
// Networks that were measured here are left aside. `file` is for the notes.
Siblings matching_siblings(std::span<const StoredQuantity> stored, std::span<const NetworkQuantity> own,
                           const std::string& file);

}  // namespace buoy::claims
