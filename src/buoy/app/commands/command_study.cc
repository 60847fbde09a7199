#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "buoy/app/cluster/fleet.h"
#include "buoy/app/cluster/slurm_jobs.h"
#include "buoy/app/command_line.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/shard_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/disk_space.h"
#include "buoy/base/interrupt.h"
#include "buoy/base/say.h"
#include "buoy/base/stopwatch.h"
#include "buoy/benchmark/machine.h"
#include "buoy/observe/number_set.h"
#include "buoy/study/design/scaling.h"
#include "buoy/study/overrides.h"
#include "buoy/study/study_check.h"
#include "buoy/study/study_runner.h"

namespace buoy::app {

namespace {

std::uint64_t bytes_of_weights(const study::StudyPlan& plan) {
  std::uint64_t bytes = 0;
  for (const auto& model : plan.study().models) bytes += bytes_in_folder(plan.model_folder(model));
  return bytes;
}

std::vector<int> process_counts(const std::string& list) {
  std::vector<int> counts;
  for (const auto number : observe::NumberSet(list, "--plan").listed()) {
    if (number < 1 || number > 1'000'000) throw_usage_error({"--plan", "numbers of processes from 1", list});
    counts.push_back(static_cast<int>(number));
  }
  return counts;
}

// What the arithmetic of a study takes here, by a product that is measured now.
std::string time_line(const study::StudyFindings& findings, Device device, int threads) {
  ThreadPool pool(threads > 0 ? threads : default_threads());
  return study::describe_time(findings, benchmark::quick_product_flops({pool}, device),
                              benchmark::machine_name(device));
}

void write_jobs(const study::Study& study, const std::string& arguments, int tasks, bool submit) {
  SlurmJobs jobs{arguments, tasks, {}, false};
  const auto& words = words_of_command();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--slurm" || words[i] == "--array-tasks") {
      ++i;
    } else if (words[i] != "--submit" && !words[i].starts_with("--slurm=") &&
               !words[i].starts_with("--array-tasks=")) {
      jobs.command.push_back(words[i]);
    }
  }
  for (const auto& entry : study.evaluations) jobs.waits |= entry.heads || !entry.columns_from.empty();
  const auto script = write_slurm_jobs(jobs, study.out / shard::kShardsFolder / "slurm");
  fmt::print("{}: {} tasks of {}, then the join and the report\n", script.string(), tasks,
             counted(static_cast<std::size_t>(cards_of_task(arguments)), "process", "processes"));
  if (submit && std::system(("sh " + shard::quoted({script.string()})).c_str()) != 0)
    throw IoError("cannot submit the jobs: sbatch failed");
}

}  // namespace

void add_study(Command& app) {
  struct Options {
    std::string file, out, device = "auto";
    int threads = 0;
    bool check = false, ignore_space = false, timing = false;
    ShardOptions shards;
    std::string slurm;
    int tasks = 8;
    bool submit = false;
    std::string plan, rates;
    study::Overrides overrides;
  };
  auto* command = app.add_subcommand("study", "run a whole study that a file describes, to one report");
  auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "description of the study (docs/studies.md)")
      ->required()
      ->type_name("FILE.toml");
  add_out_option(*command, options->out);
  add_model_option(*command, options->overrides.models);
  add_limit_option(*command, options->overrides.limit);
  add_threads_option(*command, options->threads);
  add_device_option(*command, options->device);
  add_timing_flag(*command, options->timing);
  add_shard_options(*command, options->shards);
  const std::string cluster = "On a cluster";
  auto* slurm =
      command
          ->add_option("--slurm", options->slurm,
                       "write Slurm jobs instead: an array, and the join and the report behind it; with\n"
                       "these arguments of sbatch, as in \"--partition=P --gres=gpu:8\"")
          ->type_name("ARGUMENTS")
          ->group(cluster);
  command->add_option("--array-tasks", options->tasks, "with --slurm: tasks of the array (default 8)")
      ->range(1, 10000)
      ->needs(slurm)
      ->group(cluster);
  auto* plan =
      command
          ->add_option("--plan", options->plan,
                       "only say how long so many processes would take, as in 1,8,64, what they write and\n"
                       "where more of them stop helping")
          ->type_name("LIST")
          ->group(cluster);
  command
      ->add_option(
          "--rates", options->rates,
          "with --plan: what one process was measured to take (--timing), as in decoding=540,loading=20,\n"
          "report=30,disk=2e9 (bytes a second of a shared disk),per_node=8")
      ->type_name("LIST")
      ->needs(plan)
      ->group(cluster);
  command->add_flag("--submit", options->submit, "with --slurm: submit the jobs")
      ->needs(slurm)
      ->group(cluster);
  command->add_flag(
      "--check", options->check,
      "only say what is missing or wrong, what is to be downloaded, and what every part will take: "
      "questions, forward passes, bytes, memory, time");
  add_ignore_space_flag(*command, options->ignore_space);
  command->speak_in_fields();
  command->footer(
      "Interrupted studies go on where they were. --out takes the place of the folder in the file.\n"
      "studies/experiments/ holds published experiments; --model asks other networks the same.");
  command->examples({{"buoy study studies/default.toml --check", "what the study of the natural pair needs"},
                     {"buoy study studies/default.toml", "runs it: nine minutes on two cores"},
                     {"buoy study studies/experiments/retrieval-heads.toml --limit 4 --check", ""}});
  command->callback([options] {
    auto reading = study::read_study_and_problems(options->file);
    if (!options->out.empty()) reading.study.out = options->out;
    study::apply(options->overrides, reading.study);
    const bool several = wants_processes(options->shards, options->device);
    study::StudyCall call{study::StudyPlan(std::move(reading.study)), options->threads,
                          device_from_name(several && options->device != "cpu" ? "auto" : options->device),
                          command_as_typed()};
    const auto findings = study::examine(call.plan, call.device);
    reading.problems.insert(reading.problems.end(), findings.problems.begin(), findings.problems.end());
    if (options->check)
      fmt::print("{}\n{}\n", study::describe(findings, call.plan),
                 time_line(findings, call.device, options->threads));
    study::refuse(options->file, reading.problems);
    if (!options->ignore_space) study::require_space(findings, call.plan);
    if (options->check) {
      const auto& study = call.plan.study();
      fmt::print("{}: {}, {}, {}, {}; nothing is missing\n", options->file,
                 counted(study.models.size(), "model"), counted(study.data.size(), "data set"),
                 counted(study.traces.size(), "trace"), counted(study.evaluations.size(), "evaluation"));
      return;
    }
    if (!options->plan.empty()) {
      const auto rates = study::parse_rates(options->rates);
      fmt::print("{}\n", study::describe_scaling(findings.parts, rates, bytes_of_weights(call.plan),
                                                 process_counts(options->plan)));
      return;
    }
    if (!options->slurm.empty()) {
      write_jobs(call.plan.study(), options->slurm, options->tasks, options->submit);
      return;
    }
    say_when_interrupted("buoy: interrupted; the same command goes on where the study was\n");
    Stopwatch clock;
    const PartedCommand parted{"study", call.plan.study().out};
    if (several) {
      run_processes(options->shards, options->device, parted);
    } else {
      call.sharding = place_in_run(options->shards, parted);
    }
    RunProgress progress(call.sharding, "sample");
    if (call.sharding) {
      call.facts = *shard::read_facts(parted.out);
      call.begin_part = [&](const std::string& stage, std::size_t samples, std::size_t before) {
        progress.begin(samples, before, stage);
      };
      call.step = [&] { progress.step(); };
    }
    progress.run([&] { study::run_study(call, clock); });
    if (options->timing) say("{}\n", clock.describe());
  });
}

}  // namespace buoy::app
