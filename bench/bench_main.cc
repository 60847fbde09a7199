#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>

#include "bench/bench_cuda.h"
#include "bench/measure.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/tensor/device.h"

int main(int argc, char** argv) {
  using namespace buoy;
  CLI::App app("Speed of Buoy's parts, as a share of the machine's own sgemm rate measured in the same run.");
  int threads = available_threads();
  bool long_run = false;
  std::string json_file, tokenizers = ".cache/tokenizers";
  app.add_option("--threads", threads);
  std::string only;
  app.add_option("--only", only,
                 "one part: forward, attention, observe, observe-small, analysis, live, trace, tokenizers or "
                 "cuda (only "
                 "when asked for)")
      ->check(CLI::IsMember({"forward", "attention", "observe", "observe-small", "analysis", "live", "trace",
                             "tokenizers", "cuda"}));
  bench::CudaBenchOptions cuda;
  app.add_option("--time-products", cuda.timed_candidates,
                 "cuda: time this many of cuBLASLt's proposals per shape");
  bool parts = false;
  app.add_flag("--parts", parts, "cuda: also the operations of one layer");
  bool residual = false;
  app.add_flag("--residual", residual,
               "cuda: the residual stream, the lens and predictions, and nothing else");
  bool blocks = false;
  app.add_flag("--blocks", blocks, "cuda: block decoding with and without a cache, and nothing else");
  bool experts = false;
  app.add_flag("--experts", experts, "cuda: layers of experts, and nothing else");
  app.add_option("--shape", cuda.shapes, "cuda: of blocks and experts these shapes alone (such as SDAR-8B)")
      ->delimiter(',');
  app.add_option("--rows", cuda.expert_rows, "cuda: rows of a layer of experts (32, 1024, 4096)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16));
  app.add_flag("--pieces", cuda.pieces, "cuda: also observe each statistic alone");
  app.add_flag("--long", long_run, "also lengths up to 8192");
  std::vector<int> lengths;
  app.add_option("--tokens", lengths, "lengths for attention and observing (256, 1024; long: to 8192)")
      ->delimiter(',')
      ->check(CLI::Range(33, 1 << 20));
  app.add_option("--json", json_file, "also write the results here");
  app.add_option("--tokenizers", tokenizers, "folder filled by tools/fetch_tokenizers");
  CLI11_PARSE(app, argc, argv);

  if (lengths.empty())
    lengths = long_run ? std::vector<int>{256, 1024, 4096, 8192} : std::vector<int>{256, 1024};

  ThreadPool pool(threads);
  if (only == "cuda") {
    if (!has_device_backend() || usable_devices().empty()) {
      fmt::print(stderr, "no GPU, or a build without the CUDA backend (cmake --preset cuda)\n");
      return 2;
    }
    cuda.lengths = lengths;
    const auto card = usable_devices()[0];
    fmt::print("{}\n", card.name);
    if (residual || blocks || experts) {
      const Json out = residual ? bench::bench_cuda_residual({pool}, cuda)
                       : blocks ? bench::bench_cuda_blocks({pool}, cuda)
                                : bench::bench_cuda_experts({pool}, cuda);
      if (!json_file.empty()) write_file_atomically(json_file, out.dump(2) + "\n");
      return 0;
    }
    const auto limits = benchmark::measure_limits({pool}, Device::kCuda);
    fmt::print("{}\n", describe(limits));
    const Json layer = parts ? bench::bench_cuda_parts(limits, cuda) : Json::array();
    Json out = bench::bench_cuda_steps({pool}, limits, cuda);
    out["machine"] = benchmark::machine_as_json({pool}, Device::kCuda);
    out["product_flops_per_second"] = limits.product_flops;
    out["copy_bytes_per_second"] = limits.copy_bytes;
    out["parts"] = layer;
    if (!json_file.empty()) write_file_atomically(json_file, out.dump(2) + "\n");
    return 0;
  }
  Json out = Json::array();
  fmt::print("{} thread{}\n{:<58} {:>10} {:>16} {:>14}\n", threads, threads == 1 ? "" : "s", "what", "time",
             "rate", "of sgemm");
  const bench::Report report = [&](const bench::Result& r) {
    fmt::print("{:<58} {:>8.2f}ms {:>8.2f} {:<8} {:>13}\n", r.name, r.seconds * 1e3, r.rate, r.unit,
               r.share_of_peak > 0 ? fmt::format("{:.0f}%", 100 * r.share_of_peak) : "");
    std::fflush(stdout);
    out.push_back({{"name", r.name},
                   {"seconds", r.seconds},
                   {"rate", r.rate},
                   {"unit", r.unit},
                   {"share_of_sgemm", r.share_of_peak}});
  };
  const bench::Result sgemm = bench::bench_sgemm(threads);
  report(sgemm);
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  if (wanted("forward")) bench::bench_forward({pool}, sgemm.rate, report);
  if (wanted("attention")) bench::bench_attention({pool}, lengths, report);
  if (wanted("observe")) bench::bench_observe_block({pool}, lengths, report);
  if (wanted("observe-small")) bench::bench_observe_small({pool}, lengths, report);
  if (wanted("analysis")) bench::bench_analysis(long_run, report);
  if (wanted("live")) bench::bench_live(report);
  if (wanted("trace")) bench::bench_trace(report);
  if (wanted("tokenizers")) bench::bench_tokenizers(tokenizers, report);
  if (!json_file.empty())
    write_file_atomically(json_file, Json({{"threads", threads}, {"results", out}}).dump(2) + "\n");
}
