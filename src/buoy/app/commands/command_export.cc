#include <fmt/format.h>

#include <memory>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/trace/npz_export.h"
#include "buoy/trace/reader.h"

namespace buoy::app {
namespace {

struct ExportOptions {
  std::string trace, format = "npz", out;
  bool trust = false;
};

void export_run(const ExportOptions& options) {
  const auto reader = trace::TraceReader::open(
      options.trace, options.trust ? trace::Integrity::kSizeOnly : trace::Integrity::kChecksum);
  if (!reader.complete()) say("note: {} is not complete\n", options.trace);
  Progress progress(stderr, "sample", static_cast<std::int64_t>(reader.samples().size()));
  std::uint64_t written = 0;
  for (const auto& entry : reader.samples()) {
    if (entry.status == trace::Status::kDone) {
      const auto sample = reader.read(entry.id);
      if (written == 0) {
        trace::require_exportable(sample);  // before there is a folder
        make_folder(options.out);
      }
      trace::export_npz(sample, std::filesystem::path(options.out) / trace::npz_file_name(entry.id));
      ++written;
    }
    progress.advance();
  }
  fmt::print("{}: {}\n", options.out, counted(written, "file"));
}

}  // namespace

void add_export(Command& app) {
  auto* command = app.add_subcommand("export", "write a trace in another tool's format");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("trace", options->trace, "folder of the trace")->required()->type_name("TRACE");
  command->add_option("--format", options->format, "npz: what the scripts of arXiv 2601.07894 read")
      ->one_of({"npz"});
  add_out_option(*command, options->out)->required();
  add_trust_flag(*command, options->trust);
  command->footer(
      "The trace must hold matrices: --observe dense-mean (or dense, and states for query and key\n"
      "vectors). Open a file with numpy.load(file, allow_pickle=True).");
  command->examples({{"buoy export traces/dense --format npz --out npz", ""}});
  command->callback([options] { export_run(*options); });
}

}  // namespace buoy::app
