#include <memory>

#include "buoy/app/commands/commands.h"
#include "buoy/base/interrupt.h"
#include "buoy/study/merged_run.h"

namespace buoy::app {

void add_merge(Command& app) {
  auto* command =
      app.add_subcommand("merge", "join the parts of a run into what one process would have left");
  auto out = std::make_shared<std::string>();
  command->add_option("out", *out, "folder of the run (--out of its parts)")->required()->type_name("OUT");
  command->footer(
      "Traces, watched runs, evaluations, and all parts of a study (then `buoy study` goes on to the "
      "report).\n"
      "What is missing is named with the command that runs it. A join that was killed is done again; one "
      "that\n"
      "was done is left as it is. docs/cluster.md has recipes.");
  command->examples({{"buoy merge runs/parts", ""}});
  command->callback([out] {
    say_when_interrupted("buoy: interrupted; the same command joins the parts again\n");
    study::merge_run(*out);
  });
}

}  // namespace buoy::app
