#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "buoy/benchmark/random_checkpoint.h"

int main(int argc, char** argv) {
  CLI::App app("Write a checkpoint with random bf16 weights in the shape of a released model.");
  std::string folder, shape_name = "llada-8b";
  std::int64_t layers = 0, vocabulary = 0;
  std::uint64_t seed = 0;
  app.add_option("--out", folder, "folder to write")->required();
  app.add_option("--shape", shape_name, "llada-8b or llama-8b")
      ->check(CLI::IsMember({"llada-8b", "llama-8b"}));
  app.add_option("--layers", layers, "fewer layers than the model has");
  app.add_option("--vocabulary", vocabulary, "fewer rows than the model has");
  app.add_option("--seed", seed);
  CLI11_PARSE(app, argc, argv);
  auto shape = shape_name == "llama-8b" ? buoy::benchmark::llama_8b() : buoy::benchmark::llada_8b();
  if (layers > 0) shape.layers = layers;
  if (vocabulary > 0) shape.vocabulary = vocabulary;
  buoy::benchmark::write_random_checkpoint(folder, shape, seed);
  fmt::print("{}: random {} with {} layers\n", folder, shape_name, shape.layers);
}
