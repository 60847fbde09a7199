#include <fmt/format.h>

#include <memory>

#include "buoy/app/commands/commands.h"
#include "buoy/base/interrupt.h"
#include "buoy/run/parts/run_comparison.h"
#include "buoy/study/merged_run.h"

namespace buoy::app {

void add_merge(Command& app) {
  auto* command =
      app.add_subcommand("merge", "join the parts of a run into what one process would have left");
  struct Options {
    std::string out, compare;
  };
  auto options = std::make_shared<Options>();
  command->add_option("out", options->out, "folder of the run (--out of its parts)")
      ->required()
      ->type_name("OUT");
  command
      ->add_option(
          "--compare", options->compare,
          "then say how many answers, or ids of a trace, differ from those of another run that asked\n"
          "the same: on a GPU, where another packing rounds otherwise")
      ->type_name("RUN");
  command->footer(
      "Traces, watched runs, evaluations, and all parts of a study (then `buoy study` goes on to the "
      "report).\n"
      "What is missing is named with the command that runs it. A join that was killed is done again; one "
      "that\n"
      "was done is left as it is. docs/cluster.md has recipes.");
  command->examples({{"buoy merge runs/parts", ""}});
  command->callback([options] {
    say_when_interrupted("buoy: interrupted; the same command joins the parts again\n");
    study::merge_run(options->out);
    if (options->compare.empty()) return;
    fmt::print("compared with {}: {}\n", options->compare,
               run::describe(run::compare_runs(options->out, options->compare)));
  });
}

}  // namespace buoy::app
