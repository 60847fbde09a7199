#include "buoy/app/cluster/slurm_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "buoy/base/file/files.h"
#include "buoy/shard/parent_folder.h"

namespace buoy::app {
namespace {

constexpr char kTellAgain[] = "75";  // exit code: stopped, or parts of others are missing

void write_script(const std::filesystem::path& file, const std::string& text) {
  write_file_atomically(file, "#!/bin/sh\n" + text);
  std::filesystem::permissions(file, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
}

}  // namespace

int cards_of_task(const std::string& arguments) {
  static const std::regex kCards(
      R"((?:^|\s)--(?:gres[= ]gpu|gpus|gpus-per-node)(?::[A-Za-z][\w.-]*)?[:= ](\d{1,3})(?=\s|,|$))");
  std::smatch found;
  if (!std::regex_search(arguments, found, kCards)) return 1;
  return std::max(1, std::atoi(found[1].str().c_str()));
}

std::filesystem::path write_slurm_jobs(const SlurmJobs& jobs, const std::filesystem::path& folder) {
  make_folder(folder);
  const std::string study = shard::quoted(jobs.command);
  const int cards = cards_of_task(jobs.arguments);
  const std::string task =
      cards > 1 ? fmt::format("srun --ntasks={} {} --shard product", cards, study) : study;
  const std::string out = "$1";
  write_script(folder / "array.sh",
               fmt::format("#SBATCH --signal=USR1@60\n"
                           "# Exit code {0}: told to stop, or to be started again behind the other parts.\n"
                           "{1}\n"
                           "code=$?\n"
                           "if [ $code = {0} ] && [ \"${{BUOY_LAST:-1}}\" != 1 ]; then exit 0; fi\n"
                           "exit $code\n",
                           kTellAgain, task));
  write_script(folder / "report.sh",
               fmt::format("{} merge \"{}\" && {}\n", shard::quoted({jobs.command.front()}), out, study));
  const auto here = shard::quoted({std::filesystem::absolute(folder).string()});
  const auto parent = shard::quoted({std::filesystem::absolute(folder).parent_path().parent_path().string()});
  std::string text = fmt::format("set -e\nhere={}\n", here);
  const auto submit = [&](const char* name, const std::string& more, const std::string& script) {
    text += fmt::format("{}=$(sbatch --parsable --output=\"$here/%x-%A-%a.log\" {} {} {})\n", name,
                        jobs.arguments, more, script);
  };
  const std::string array = fmt::format("--array=0-{}", jobs.tasks - 1);
  std::string last = "array";
  if (jobs.waits) {
    submit("first", array + " --export=ALL,BUOY_LAST=0", "\"$here/array.sh\"");
    submit("array", array + " --dependency=afterok:$first", "\"$here/array.sh\"");
  } else {
    submit("array", array, "\"$here/array.sh\"");
  }
  submit("report", "--dependency=afterok:$array", "\"$here/report.sh\" " + parent);
  text += "echo \"array $array, report $report\"\n";
  write_script(folder / "submit.sh", text);
  return folder / "submit.sh";
}

}  // namespace buoy::app
