#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "buoy/run/evaluation.h"
#include "buoy/run/summary/score_book.h"
#include "buoy/world/world_items.h"
#include "support/temp_folder.h"

namespace buoy::testing {

// Questions about people of the made-up world that the bundled pair knows nothing of.
std::filesystem::path write_world(const TempFolder& folder, const world::WorldSetOptions& options);

// Models named "diffusion" and "autoregressive": the bundled pair, or one of it.
NamedPath pair_model(bool masked_diffusion);
// The same weights below a config that states another mask, in a folder of the scratch folder.
NamedPath pair_model_with_mask(bool masked_diffusion, const std::string& mask, const TempFolder& scratch);
// Both asked this data as they were trained to be, greedily, in 8 slots and few steps.
run::EvaluationSpec pair_spec(const std::filesystem::path& data, std::vector<run::Condition> conditions);
run::Condition closed_book();

// Runs to the end; notes are appended to `notes`.
run::EvaluationResult run(const run::EvaluationSpec& spec, const std::filesystem::path& folder,
                          bool resume = false, std::vector<std::string>* notes = nullptr);
// Dies as soon as `answers` answers were found. Fails the test when there were fewer.
void run_and_die(const run::EvaluationSpec& spec, const std::filesystem::path& folder, bool resume,
                 std::size_t answers);
void summarise_run(const std::filesystem::path& folder);

// Every file below the folder, by its path in it.
using Files = std::map<std::string, std::string>;
Files files_of(const std::filesystem::path& folder);
// Whether two folders hold the same bytes; says which files differ.
::testing::AssertionResult same_files(const Files& a, const Files& b);

double exact_match(const run::ScoreBook& book, const std::string& model, const std::string& condition);

}  // namespace buoy::testing
