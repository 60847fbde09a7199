#include "app/example_workshop.h"

#include <nlohmann/json.hpp>

#include <regex>
#include <stdexcept>

#include "app/pair.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/retrieve/index.h"
#include "support/golden.h"
#include "support/tiny_checkpoint.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

// A chat template of the kind that LLaDA and the first Llama 3 have.
constexpr char kChatTemplate[] =
    "{% for message in messages %}{% set content = '<|start_header_id|>' + message['role'] + "
    "'<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}"
    "{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}";

// Rows for every id of the tiny tokenizer.
constexpr std::int64_t kRows = 300;

void write_dream(const fs::path& folder) {
  TinyCheckpoint tiny(Family::kDream);
  for (const char* name : {"model.embed_tokens.weight", "lm_head.weight"}) {
    TinyTensor& tensor = tiny.tensor(name);
    const std::string few = tensor.bytes;
    tensor.shape[0] = kRows;
    const size_t wanted = few.size() / 32 * kRows;  // of 32 rows that repeat
    while (tensor.bytes.size() < wanted) tensor.bytes += few;
    tensor.bytes.resize(wanted);
  }
  tiny.config["vocab_size"] = kRows;
  tiny.config["max_position_embeddings"] = 2048;
  fs::create_directories(folder);
  tiny.write(folder);
}

void write_stand_in(const fs::path& folder, Family family) {
  if (family == Family::kDream) {
    write_dream(folder);
  } else {
    benchmark::write_random_checkpoint(folder, {family, 32, 2, 4, 4, 8, 64, kRows}, 7);
  }
  fs::copy_file(data_folder() / "text/tiny_tokenizer.json", folder / "tokenizer.json");
  Json config = read_json_file(folder / "config.json");
  config["eos_token_id"] = 295;
  if (family != Family::kLlama) config["mask_token_id"] = 296;
  write_file_atomically(folder / "config.json", dump_json(config));
  const Json tokenizer = {{"bos_token", "<|startoftext|>"}, {"chat_template", kChatTemplate}};
  write_file_atomically(folder / "tokenizer_config.json", dump_json(tokenizer));
}

// Two questions with ten passages of three words: the tiny tokenizer makes a token of every byte or two.
std::string short_questions() {
  std::string lines;
  for (const char* name : {"Ada", "Bo"}) {
    Json item = {{"question", std::string("What does ") + name + " bake?"}, {"answers", {"bread"}}};
    for (int i = 0; i < 10; ++i) {
      const bool gold = i == 3;
      item["passages"].push_back({{"title", gold ? name : "Sea"},
                                  {"text", gold ? std::string(name) + " bakes bread." : "A buoy floats."},
                                  {"gold", gold}});
    }
    lines += dump_json(item) + "\n";
  }
  return lines;
}

}  // namespace

ExampleWorkshop::ExampleWorkshop() {
  fs::create_directory(folder_ / "bin");
  fs::create_symlink(BUOY_PROGRAM, folder_ / "bin/buoy");
  add_models();
  add_studies();
  add_data();
  add_traces();
}

void ExampleWorkshop::must(const std::string& line) const {
  const auto result = run(line);
  if (result.exit_code != 0) throw std::runtime_error(line + ": " + result.err);
}

ProgramResult ExampleWorkshop::run(const std::string& line) const {
  std::smatch out;
  if (std::regex_search(line, out, std::regex("--out +(\\S+)"))) fs::remove_all(folder_ / out[1].str());
  return run_shell("cd '" + folder_.path().string() + "' && PATH=\"$PWD/bin:$PATH\" && " + line);
}

void ExampleWorkshop::add_models() const {
  fs::create_directory_symlink(fs::canonical(pair_folder(true).parent_path()), folder_ / "models");
  write_stand_in(folder_ / "LLaDA-8B-Instruct", Family::kLlada);
  write_stand_in(folder_ / "Dream-v0-Instruct-7B", Family::kDream);
  write_stand_in(folder_ / "Llama-3.1-8B-Instruct", Family::kLlama);
  fs::create_directory_symlink(folder_ / "Llama-3.1-8B-Instruct", folder_ / "DIR");
}

void ExampleWorkshop::add_studies() const {
  fs::create_directory(folder_ / "studies");
  for (const auto& file : fs::directory_iterator(pair_folder(true) / ".." / ".." / "studies")) {
    const auto here = folder_ / "studies" / file.path().filename().string();
    if (file.is_directory()) {
      fs::create_directory_symlink(fs::canonical(file.path()), here);
      continue;
    }
    const std::string text = read_file(file.path());
    write_file_atomically(here, std::regex_replace(text, std::regex("count = [0-9]+"), "count = 2"));
  }
}

void ExampleWorkshop::add_data() const {
  write_file_atomically(folder_ / "questions.jsonl", short_questions());
  must("for name in nq nq_10docs; do gzip -c questions.jsonl > $name.jsonl.gz; done");
  must("mkdir wiki && echo 'Rembrandt painted the Night Watch in 1642.' > wiki/night-watch.txt");
  must("cp -r wiki documents && cp questions.jsonl documents/people.txt && echo 'A buoy floats.' > notes.md");
  must("echo '{\"text\": \"Bread is baked at four.\"}' | gzip > passages.jsonl.gz");
  if (retrieve::can_index()) must("buoy index wiki --out wiki.db");
}

void ExampleWorkshop::add_traces() const {
  const std::string options =
      "--data questions.jsonl --template models/planted.prompt --passages 3 --limit 2 "
      "--max-new-tokens 4 --observe all,dense --groups regions --out traces/";
  must("buoy trace --model models/planted-diffusion " + options + "diffusion");
  must("buoy trace --model models/planted-autoregressive " + options + "autoregressive");
  for (const char* copy : {"dense", "llada", "llama", "llada-nq", "llada-hotpot", "llada-marco"})
    fs::copy(folder_ / "traces/diffusion", folder_ / "traces" / copy, fs::copy_options::recursive);
  must(
      "buoy eval --model models/planted-diffusion --data questions.jsonl --template models/planted.prompt "
      "--passages 2 --closed-book --max-new-tokens 4 --resamples 100 --out runs/nq");
  const std::string part =
      "buoy eval --model models/planted-diffusion --data questions.jsonl --template models/planted.prompt "
      "--passages 2 --max-new-tokens 4 --resamples 100 --out runs/parts --shard ";
  must(part + "0/2 && " + part + "1/2");
}

}  // namespace buoy::testing
