#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace buoy::app {

// A study as Slurm jobs: an array whose tasks take parts, and a job behind it that joins them and makes the
// report.
struct SlurmJobs {
  std::string arguments;             // of sbatch, as typed: "--partition=P --gres=gpu:8"
  int tasks = 1;                     // of the array
  std::vector<std::string> command;  // words that run the study
  bool waits = false;                // some of its evaluations need whole traces
};

// Cards of each task, by --gres=gpu:8, --gpus-per-node=8 or --gpus=8 of the arguments; 1 where none are
// named.
int cards_of_task(const std::string& arguments);

// Writes array.sh, report.sh and submit.sh into the folder; the last submits both others and prints their
// numbers. Returns its path.
std::filesystem::path write_slurm_jobs(const SlurmJobs& jobs, const std::filesystem::path& folder);

}  // namespace buoy::app
