#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <memory>
#include <vector>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/base/version.h"
#include "buoy/benchmark/steps.h"
#include "buoy/checkpoint/hub_cache.h"

namespace buoy::app {
namespace {

struct BenchOptions {
  std::string folder, shape, device = "auto", json, save;
  std::vector<std::int64_t> tokens;
  std::vector<std::string> packed;
  std::int64_t layers = 0;
  int threads = 0;
  bool observe = false;
};

// "16x512": 16 sequences of 512 tokens.
benchmark::StepShape parse_packed(const std::string& text) {
  benchmark::StepShape shape;
  const char *begin = text.data(), *end = begin + text.size();
  const auto count = std::from_chars(begin, end, shape.sequences);
  if (count.ec == std::errc() && count.ptr != end && *count.ptr == 'x') {
    const auto length = std::from_chars(count.ptr + 1, end, shape.tokens);
    if (length.ec == std::errc() && length.ptr == end && shape.sequences > 0 && shape.tokens > 0)
      return shape;
  }
  throw_usage_error({"--packed", "sequences x tokens, as in 16x512", fmt::format("\"{}\"", text)});
}

// A GPU gets the large model and long texts, a CPU what it can do in seconds.
void fill_defaults(BenchOptions& options, Device device) {
  const bool gpu = device == Device::kCuda;
  if (options.shape.empty()) options.shape = gpu ? "llada-8b" : "llada-small";
  if (options.tokens.empty() && options.packed.empty())
    options.tokens = gpu ? std::vector<std::int64_t>{256, 1024, 4096} : std::vector<std::int64_t>{64, 256};
}

// What can be refused before anything is measured.
void check(const BenchOptions& options) {
  if (!options.folder.empty()) {
    read_config(options.folder);
    return;
  }
  const std::int64_t most = benchmark::shape_named(options.shape).layers;
  if (options.layers > most)
    throw_usage_error({"--layer-count", fmt::format("at most the {} of {}", most, options.shape),
                       std::to_string(options.layers)});
}

std::unique_ptr<benchmark::TimedModel> load(const BenchOptions& options, Device device) {
  if (!options.folder.empty()) return benchmark::open_model(options.folder, device);
  auto shape = benchmark::shape_named(options.shape);
  if (options.layers > 0) shape.layers = options.layers;
  return benchmark::random_model(shape, device);
}

// The random weights as a checkpoint, for commands that take a model.
void save_model(BenchOptions options) {
  if (options.shape.empty()) options.shape = "llada-small";
  check(options);
  if (path_exists(options.save) && !(is_folder(options.save) && std::filesystem::is_empty(options.save)))
    throw_usage_error({"--save-model", "a new or empty folder", options.save});
  auto shape = benchmark::shape_named(options.shape);
  if (options.layers > 0) shape.layers = options.layers;
  benchmark::write_random_checkpoint(options.save, shape, 1);
  fmt::print("{}: random weights, {}\n", options.save,
             describe_bytes(benchmark::random_checkpoint_bytes(shape)));
}

void bench(BenchOptions options) {
  std::vector<benchmark::StepShape> shapes;
  for (const auto& text : options.packed) shapes.push_back(parse_packed(text));
  const Device device = device_from_name(options.device);
  fill_defaults(options, device);
  check(options);
  for (size_t i = 0; i < options.tokens.size(); ++i)
    shapes.insert(shapes.begin() + static_cast<std::ptrdiff_t>(i), {1, options.tokens[i]});

  ThreadPool threads(options.threads > 0 ? options.threads : available_threads());
  const Context context{threads};
  const auto limits = benchmark::measure_limits(context, device);
  fmt::print("{}: {}\n", benchmark::machine_name(device), describe(limits));
  const auto model = load(options, device);
  const ModelConfig& c = model->config();
  const std::string what = options.folder.empty() ? options.shape + ", random weights" : options.folder;
  fmt::print("{}: {} layers of {}, weights {}\n", what, c.layers, c.hidden,
             describe_bytes(model->weight_bytes()));
  Json steps = Json::array();
  std::vector<benchmark::StepResult> results;
  const auto add = [&](const benchmark::StepResult& result, const benchmark::StepResult* unobserved) {
    fmt::print("{}\n", describe(result, limits, model->weight_bytes(), unobserved));
    std::fflush(stdout);
    steps.push_back(as_json(result, limits, model->weight_bytes(), unobserved));
    results.push_back(result);
  };
  for (const auto& shape : shapes) {
    if (options.observe) {
      const auto [unobserved, observed] =
          benchmark::time_observed_step(context, *model, shape, benchmark::kEverything);
      add(unobserved, nullptr);
      add(observed, &unobserved);
    } else {
      add(benchmark::time_step(context, *model, shape), nullptr);
    }
  }
  const double held = benchmark::held_product_flops(context, device);
  fmt::print("{}\n", describe_held(held, results));
  if (options.json.empty()) return;
  const Json out = {{"buoy", version()},
                    {"machine", benchmark::machine_as_json(context, device)},
                    {"limits",
                     {{"product", limits.product},
                      {"product_flops_per_second", limits.product_flops},
                      {"held_product_flops_per_second", held},
                      {"copy_bytes_per_second", limits.copy_bytes}}},
                    {"model",
                     {{"name", options.folder.empty() ? options.shape : options.folder},
                      {"random_weights", options.folder.empty()},
                      {"family", name_of(c.family)},
                      {"layers", c.layers},
                      {"hidden", c.hidden},
                      {"weight_bytes", model->weight_bytes()}}},
                    {"steps", steps}};
  write_file_atomically(options.json, dump_json(out, 2) + "\n");
}

}  // namespace

void add_bench(Command& app) {
  auto* command = app.add_subcommand("bench", "how fast this machine runs a model");
  auto options = std::make_shared<BenchOptions>();
  auto* folder = add_model_option(*command, options->folder);
  auto* shape =
      command
          ->add_option(
              "--shape", options->shape,
              "or random weights of this shape (default: llada-8b on a device, llada-small on the CPU)")
          ->one_of(benchmark::shape_names());
  auto* layers = command->add_option("--layer-count", options->layers, "fewer layers than the shape has")
                     ->alias("--layers")
                     ->range(1, 1000);
  folder->excludes(shape);
  folder->excludes(layers);
  add_device_option(*command, options->device);
  add_threads_option(*command, options->threads);
  command
      ->add_option("--tokens", options->tokens,
                   "lengths of a single sequence (default: 256,1024,4096 on a device, 64,256 on the CPU)")
      ->delimiter(',')
      ->range(1, 1 << 20);
  command->add_option("--packed", options->packed, "sequences packed into one pass, as in 16x512")
      ->delimiter(',')
      ->type_name("NxT");
  command
      ->add_flag("--observed", options->observe,
                 "also with attention received by 13 groups, entropy, 32 rows and QK moments of all layers")
      ->alias("--observe");
  command->add_option("--json-file", options->json, "also write the results here")
      ->alias("--json")
      ->type_name("F.json");
  command
      ->add_option("--save-model", options->save,
                   "write the random weights into this folder as a checkpoint, and measure nothing")
      ->type_name("DIR")
      ->excludes(folder);
  command->footer(
      "A step is one forward pass in which every position is chosen from. Its operations are compared with "
      "the\n"
      "machine's matrix products and its weights, read once, with the rate of copying, both measured "
      "first.");
  command->examples({
      {"buoy bench --device cpu --shape llada-small --layer-count 1 --tokens 64 --observed --json-file "
       "bench.json",
       ""},
      {"buoy bench --device cuda --tokens 1024 --packed 16x512 --observed", "needs a GPU"},
  });
  command->callback([options] {
    if (!options->folder.empty()) options->folder = find_model(options->folder).string();
    if (!options->save.empty()) return save_model(*options);
    bench(*options);
  });
}

}  // namespace buoy::app
