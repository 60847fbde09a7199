#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buoy/result/table.h"

namespace buoy::study {

// What tells whether a network is the published one.
struct NetworkShape {
  std::string family;
  std::int64_t layers = 0;
};

// Where a study has the number: the row of a table whose columns hold these texts, one row for each network
// unless their mean is meant.
struct OwnNumber {
  std::string table, column;
  std::map<std::string, std::string> where = {};
  double scale = 1;   // from the table's unit to the published one
  bool mean = false;  // of all such rows of a network, as of layers; then there is no interval
};

// One number of a paper.
struct PublishedValue {
  std::string paper;  // as it is cited
  std::string quantity, condition, unit;
  std::string text;         // the value, as published
  std::string network;      // its name
  NetworkShape shape = {};  // nothing: no network is the published one, or any
  std::string differs =
      {};  // why even the published network would not give a comparable number; "": it would
  std::optional<OwnNumber> ours = {};
};

// Those of some papers (keys) in a file such as studies/experiments/published.toml. InputError with file and
// line for what is wrong with any of them: unknown keys, papers, tables and columns.
std::vector<PublishedValue> read_published(const std::filesystem::path& file,
                                           const std::vector<std::string>& papers);

// Our numbers beside them (schema::published_values). `networks` are those of the study, by the labels that
// tables have; rows of other labels are left out. InputError where several rows of a network are meant.
Table published_table(std::span<const PublishedValue> values, std::span<const Table> tables,
                      const std::map<std::string, NetworkShape>& networks);

// That table for a terminal, a line for each published number and one for each of ours.
std::string describe_published(const Table& table);

}  // namespace buoy::study
