#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "buoy/analysis/sample/sample_facts.h"
#include "buoy/run/prompter.h"
#include "buoy/run/request.h"
#include "buoy/trace/manifest.h"

namespace buoy::run {

// What one sample takes on the disk, for each level of keeping.
struct SampleBytes {
  std::uint64_t tables = 0, compact = 0, full = 0;
  std::uint64_t chosen = 0;  // a sample that compact keeps more of
  std::uint64_t large = 0;   // of full: dense matrices and states

  // Of a run of so many samples, of which some are chosen.
  std::uint64_t of_run(trace::Level level, std::uint64_t samples, std::uint64_t chosen_samples) const;
};

// Before the sample is run and without any weights: from the plan that its file will be written by. Texts of
// tokens and of the answer are guessed. `analyses` are those whose states are kept.
SampleBytes expected_bytes(const ModelConfig& config, const Request& request, const ItemPrompt& prompt,
                           const std::vector<std::string>& analyses);

// Of a stored sample that is to be kept as less.
SampleBytes expected_bytes(const analysis::SampleFacts& stored,
                           const std::map<std::string, std::string>& texts, const trace::Manifest& manifest,
                           const std::vector<std::string>& analyses);

// What a run will write, before it begins.
struct RunBytes {
  SampleBytes each;
  trace::Level level = trace::Level::kFull;  // that it keeps
  std::uint64_t samples = 0, chosen_samples = 0;
  std::uint64_t results = 0;  // tables and figures that are written behind the samples
  std::uint64_t held = 0;     // at most, in a temporary file while a sample runs

  // Of all samples.
  std::uint64_t all() const { return each.of_run(level, samples, chosen_samples); }
};

// An allowance for tables and figures of so many analyses: all eight of a model of 8B take a few tens of MB.
constexpr std::uint64_t results_allowance(std::size_t analyses) {
  return std::uint64_t{analyses} << 22;
}

// "8 samples, about 1.9 MiB each, 15 MiB in all as tables; as compact 290 MiB, as full 12 GiB; 40 GiB free".
std::string describe(const RunBytes& run, std::uint64_t free_bytes);

// IoError when the disk of a folder has less room than the run still has to write to it.
void require_space(const RunBytes& run, const std::filesystem::path& folder);

}  // namespace buoy::run
