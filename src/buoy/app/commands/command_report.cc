#include <memory>

#include "buoy/app/command_line.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/options/analysis_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/file/named_path.h"
#include "buoy/study/report_builder.h"

namespace buoy::app {

void add_report(Command& app) {
  auto* command = app.add_subcommand("report", "every analysis of one or more traces on one page");
  struct Options {
    AnalysisCall call;
    std::vector<std::string> evaluations, tasks, siblings;
    std::string title, out;
  };
  auto options = std::make_shared<Options>();
  add_analysis_options(*command, options->call);
  command->add_option("--title", options->title, "title of the page")->type_name("TEXT");
  command->add_option("--eval", options->evaluations, "run of buoy eval, or LABEL=run; several may be given")
      ->type_name("RUN");
  command
      ->add_option("--tasks", options->tasks,
                   "traces of one model on different data, compared task by task (default: all traces)")
      ->type_name("TRACE...");
  command
      ->add_option("--siblings", options->siblings,
                   "table claim_quantities.csv of networks measured elsewhere: they count where rules and "
                   "questions are the same")
      ->type_name("FILE");
  add_out_option(*command, options->out)->required();
  command->footer("Writes report.html, tables/ and figures/.");
  command->examples(
      {{"buoy report traces/diffusion traces/autoregressive --out report", "then open report/report.html"}});
  command->callback([options] {
    study::ReportRequest request{options->title,
                                 split_names(options->call.traces),
                                 split_names(options->tasks),
                                 split_names(options->evaluations),
                                 {},
                                 options->call.settled(),
                                 options->out,
                                 command_as_typed()};
    request.siblings.assign(options->siblings.begin(), options->siblings.end());
    study::build_report(request);
  });
}

}  // namespace buoy::app
