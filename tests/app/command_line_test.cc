// What options mean and how words become values, seen from outside.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <sstream>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/decode/options.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

Json described() {
  return Json::parse(run_buoy({"--describe"}).out);
}

void expect_refused(const std::vector<std::string>& call, int code, const std::vector<std::string>& said) {
  const auto result = run_buoy(call);
  EXPECT_EQ(result.exit_code, code) << result.err;
  for (const auto& part : said)
    EXPECT_NE(result.err.find(part), std::string::npos) << part << " not in: " << result.err;
}

std::vector<std::string> generate(const std::vector<std::string>& more) {
  std::vector<std::string> call = {"generate", "--model", (data_folder() / "goldens/llada-f32").string(),
                                   "--ids",    "1,2",     "--max-new-tokens",
                                   "4",        "--json"};
  call.insert(call.end(), more.begin(), more.end());
  return call;
}

struct Meaning {
  std::string command, type, help;
};

// By name; options that are known by their place have no name to share.
std::map<std::string, std::vector<Meaning>> meanings() {
  std::map<std::string, std::vector<Meaning>> all;
  const Json description = described();
  for (const auto& command : description["commands"]) {
    for (const auto& option : command["options"]) {
      const std::string name = option["name"];
      if (name.starts_with("--")) all[name].push_back({command["name"], option["type"], option["help"]});
    }
  }
  return all;
}

TEST(CommandLine, ANameMeansTheSameInEveryCommand) {
  const auto all = meanings();
  EXPECT_GT(all.size(), 60u);
  for (const auto& [name, uses] : all) {
    for (const auto& use : uses) {
      EXPECT_EQ(use.help, uses[0].help) << name << " of " << use.command << " and " << uses[0].command;
      EXPECT_EQ(use.type, uses[0].type) << name << " of " << use.command << " and " << uses[0].command;
    }
  }
}

// A row is "| `--seed N` | meaning | commands |".
TEST(CommandLine, TheTableInTheDocsHasEveryOption) {
  const std::string page = read_file(data_folder() / "../../docs/command-line.md");
  std::string missing;
  for (const auto& [name, uses] : meanings()) {
    std::string commands, help = uses[0].help;
    for (const auto& use : uses) commands += (commands.empty() ? "" : ", ") + use.command;
    for (char& c : help) c = c == '\n' ? ' ' : c;
    for (size_t at = 0; (at = help.find('|', at)) != std::string::npos; at += 2) help.insert(at, "\\");
    std::string type = uses[0].type;
    for (size_t at = 0; (at = type.find('|', at)) != std::string::npos; at += 2) type.insert(at, "\\");
    const std::string row =
        "| `" + name + (type.empty() ? "" : " " + type) + "` | " + help + " | " + commands + " |\n";
    if (page.find(row) == std::string::npos) missing += row;
  }
  EXPECT_EQ(missing, "") << "rows that docs/command-line.md lacks";
}

// Lines of the help are "  passages       passages in the prompt; 0: closed book".
TEST(CommandLine, TheTableInTheDocsHasEveryAxisOfASweep) {
  const std::string page = read_file(data_folder() / "../../docs/command-line.md");
  std::istringstream help(run_buoy({"eval", "--help"}).out);
  std::string line, missing;
  while (std::getline(help, line) && !line.starts_with("Sweeps (")) {
  }
  int axes = 0;
  for (; std::getline(help, line) && line.starts_with("  "); ++axes) {
    const auto end = line.find(' ', 2), about = line.find_first_not_of(' ', end);
    ASSERT_NE(about, std::string::npos) << line;
    const std::string row = "| `" + line.substr(2, end - 2) + "` | " + line.substr(about) + " |\n";
    if (page.find(row) == std::string::npos) missing += row;
  }
  EXPECT_GE(axes, 10);
  EXPECT_EQ(missing, "") << "rows that docs/command-line.md lacks";
}

TEST(CommandLine, EveryDecodingOptionIsAFlagOfWhatDecodes) {
  const auto all = meanings();
  for (const auto& option : decode::kDecodeOptions) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) {
      return one.second[0].help == option.help && one.second.size() >= 3;
    });
    EXPECT_NE(found, all.end()) << option.key;
  }
}

// Libraries speak of fields; a user of the command line reads flags, one of a study its keys.
TEST(CommandLine, ErrorsOfLibrariesNameFlags) {
  expect_refused(generate({"--top-p", "0.5"}), 2,
                 {"--top-p: expected a model it belongs to (Dream and auto"});
  expect_refused(generate({"--block-length", "3"}), 2,
                 {"--block-length: expected a divisor of --max-new-tokens (4), found 3"});
  expect_refused(generate({"--mask-token-id", "99999"}), 2, {"--mask-token-id: expected an id from 0"});
  expect_refused(generate({"--algorithm", "best"}), 2, {"--algorithm: expected one of low_confidence"});
  const std::string help = run_buoy({"eval", "--help"}).out + run_buoy({"trace", "--help"}).out;
  EXPECT_NE(help.find("(with --passages N: among N)"), std::string::npos);
  EXPECT_NE(help.find("(--observe, comma-separated"), std::string::npos);
}

TEST(CommandLine, WhatIsMisspeltIsNamedWithTheNearest) {
  expect_refused({"genrate"}, 2, {"\"genrate\"", "did you mean generate?"});
  expect_refused({"xyzzyx"}, 2, {"\"xyzzyx\"", "inspect, tokenize"});
  expect_refused({"generate", "--modle", "x"}, 2, {"\"--modle\"", "did you mean --model?", "buoy generate"});
  expect_refused(generate({"--max-new-tokns=3"}), 2, {"\"--max-new-tokns\"", "--max-new-tokens"});
  expect_refused(generate({"stray"}), 2, {"\"stray\""});
  expect_refused({"--versoin"}, 2, {"--versoin"});
  expect_refused({}, 2, {"a command"});
}

TEST(CommandLine, NumbersAreReadWholeAndFinite) {
  expect_refused(generate({"--seed", "-1"}), 2, {"--seed", "\"-1\""});
  expect_refused(generate({"--seed", "18446744073709551616"}), 2, {"--seed", "18446744073709551615"});
  expect_refused(generate({"--temperature", ""}), 2, {"--temperature", "\"\""});
  expect_refused(generate({"--temperature", "0.5x"}), 2, {"--temperature"});
  expect_refused(generate({"--cfg-scale", "inf"}), 2, {"--cfg-scale", "finite", "\"inf\""});
  expect_refused(generate({"--cfg-scale", "nan"}), 2, {"--cfg-scale"});
  expect_refused(generate({"--steps", "4294967298"}), 2, {"--steps", "4294967298"});
  EXPECT_EQ(run_buoy(generate({"--seed", "18446744073709551615"})).exit_code, 0);
}

TEST(CommandLine, OldNamesStillWork) {
  const std::string folder = pair_folder(true).string();
  const auto now = run_buoy({"tokenize", "--model", folder, "--prompt", "hi"});
  EXPECT_EQ(now.exit_code, 0) << now.err;
  EXPECT_EQ(run_buoy({"tokenize", "--model", folder, "--text", "hi"}).out, now.out);
  const std::string old_noise =
      run_buoy({"world", "--count", "1", "--passages", "2", "--noise", "shuffled"}).out;
  EXPECT_EQ(run_buoy({"world", "--count", "1", "--passages", "2", "--noise-kind", "shuffled"}).out,
            old_noise);
  EXPECT_NE(old_noise, "");
  const std::string help = run_buoy({"eval", "--help"}).out;
  EXPECT_EQ(help.find("--prompt"), std::string::npos) << "old names are not shown";
  EXPECT_NE(help.find("--template"), std::string::npos);
}

TEST(CommandLine, APromptFromAFileIsThePromptItself) {
  const TempFolder scratch;
  const std::string folder = pair_folder(true).string();
  const auto call = [&](const std::vector<std::string>& more, const std::string& prelude = "") {
    std::vector<std::string> words = {"tokenize", "--model", folder};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run_buoy(words, prelude);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string given = call({"--prompt", "Who is Ada?"});
  EXPECT_EQ(call({"--file", scratch.write("unix", "Who is Ada?\n")}), given);
  EXPECT_EQ(call({"--file", scratch.write("windows", "Who is Ada?\r\n")}), given);
  EXPECT_NE(call({"--file", scratch.write("two", "Who is Ada?\n\n")}), given) << "one line end is dropped";
  EXPECT_EQ(call({"--file", "-"}, "echo 'Who is Ada?' | "), given);
}

TEST(CommandLine, QuestionsComeFromAPipe) {
  const TempFolder scratch;
  const auto traced = run_buoy({"trace", "--model", pair_folder(true).string(), "--data", "-",
                                "--max-new-tokens", "2", "--out", scratch / "t"},
                               "echo '{\"question\": \"Who is Ada?\", \"answers\": [\"x\"]}' | ");
  EXPECT_EQ(traced.exit_code, 0) << traced.err;
  EXPECT_NE(traced.out.find("1 sample\n"), std::string::npos) << traced.out;
  expect_refused({"eval", "--model", pair_folder(true).string(), "--data", "-", "--out", scratch / "r"}, 2,
                 {"--data", "standard input"});
}

TEST(CommandLine, OnlyRegularFilesAreReadWhereAFileIsMeant) {
  const TempFolder scratch;
  const std::string pipe = scratch / "pipe";
  ASSERT_EQ(run_shell("mkfifo " + pipe).exit_code, 0);
  for (const std::string& file : {pipe, std::string("/dev/zero")}) {
    expect_refused({"tokenize", "--model", pair_folder(true).string(), "--file", file}, 3,
                   {file, "a regular file"});
    expect_refused({"trace", "--model", pair_folder(true).string(), "--data", file, "--out", scratch / "t"},
                   3, {file, "a regular file"});
  }
  std::filesystem::copy(pair_folder(true), scratch / "model");
  std::filesystem::remove(scratch / "model/model.safetensors");
  ASSERT_EQ(run_shell("mkfifo " + (scratch / "model/model.safetensors").string()).exit_code, 0);
  expect_refused({"generate", "--model", scratch / "model", "--ids", "1"}, 3,
                 {"model.safetensors", "a pipe"});
}

TEST(CommandLine, ValuesAreCheckedBeforeAnyWork) {
  const TempFolder scratch;
  const auto eval = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = {"eval",
                                     "--model",
                                     pair_folder(true).string(),
                                     "--data",
                                     (data_folder() / "questions/buoy.jsonl").string(),
                                     "--out",
                                     scratch / "run"};
    call.insert(call.end(), more.begin(), more.end());
    return call;
  };
  expect_refused(eval({"--resamples", "20"}), 2, {"--resamples", "at least 100", "20"});
  expect_refused(eval({"--resamples", "5"}), 2, {"--resamples", "\"5\""});
  EXPECT_EQ(scratch.entries(), 0u) << "something was begun";
  const auto trace = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = {"trace", "--model",    pair_folder(true).string(), "--prompt", "hi",
                                     "--out", scratch / "t"};
    call.insert(call.end(), more.begin(), more.end());
    return call;
  };
  expect_refused(trace({"--max-new-tokens", "8", "--block-length", "5"}), 2, {"block-length", "divisor"});
  expect_refused(trace({"--top-p", "0.9"}), 2, {"--top-p", "Dream"});
  EXPECT_EQ(scratch.entries(), 0u) << "something was begun";
}

TEST(CommandLine, PromptsBeyondTheContextAreRefusedUnlessAllowed) {
  const TempFolder scratch;
  const std::vector<std::string> decoding = {"--model",
                                             (data_folder() / "goldens/llada-f32").string(),
                                             "--ids",
                                             "1,2",
                                             "--max-new-tokens",
                                             "600",
                                             "--steps",
                                             "1"};
  const auto with = [&](std::vector<std::string> call, const std::vector<std::string>& more) {
    call.insert(call.end(), decoding.begin(), decoding.end());
    call.insert(call.end(), more.begin(), more.end());
    return call;
  };
  expect_refused(with({"generate"}, {}), 2, {"prompt", "context", "--allow-long", "600"});
  const auto allowed = run_buoy(with({"generate"}, {"--allow-long"}));
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  EXPECT_NE(allowed.err.find("warning"), std::string::npos) << allowed.err;
  expect_refused(with({"trace", "--out", scratch / "t"}, {}), 3,
                 {"every sample failed", "context", "--allow-long"});
}

TEST(CommandLine, TheChatTemplateIsUsedWhereTheFolderHasOne) {
  const TempFolder scratch;
  write_talking_model(scratch / "model", true);
  const auto ids = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = {"tokenize", "--model", scratch / "model", "--prompt", "hi"};
    call.insert(call.end(), more.begin(), more.end());
    const auto result = run_buoy(call);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string plain = ids({});
  EXPECT_EQ(ids({"--no-chat"}), plain);
  const std::string in_style = ids({"--chat-style", "llada"});
  EXPECT_NE(in_style, plain);
  expect_refused({"tokenize", "--model", scratch / "model", "--prompt", "hi", "--chat"}, 3,
                 {"chat template"});
  expect_refused({"tokenize", "--model", scratch / "model", "--prompt", "hi", "--system", "Be brief."}, 3,
                 {"chat template"});
  expect_refused({"tokenize", "--model", scratch / "model", "--prompt", "hi", "--chat", "--no-chat"}, 2,
                 {"--no-chat"});

  const Json config = {
      {"bos_token", "<|startoftext|>"},
      {"chat_template",
       "{% for message in messages %}{% set content = '<|start_header_id|>' + message['role'] + "
       "'<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}"
       "{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}"
       "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}"}};
  write_file_atomically(scratch / "model/tokenizer_config.json", config.dump());
  const std::string found = ids({});
  EXPECT_EQ(found, in_style);
  EXPECT_EQ(ids({"--chat"}), found);
  EXPECT_EQ(ids({"--no-chat"}), plain);
}

TEST(CommandLine, NamesThatAreNotUtf8AreNoBug) {
  const TempFolder scratch;
  const std::string model = scratch /
                            "mod\xFF"
                            "el",
                    questions = scratch / "q\xFE.jsonl";
  std::filesystem::create_directory_symlink(std::filesystem::canonical(pair_folder(true)), model);
  const auto traced = run_buoy({"trace", "--model", model, "--prompt", "hi", "--max-new-tokens", "2",
                                "--groups", "a\xFF=0;rest=1", "--out", scratch / "t"});
  EXPECT_EQ(traced.exit_code, 0) << traced.err;
  const auto inspected = run_buoy({"inspect", "--json", scratch / "t"});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_NE(inspected.out.find("mod\xEF\xBF\xBD"
                               "el"),
            std::string::npos)
      << inspected.out;

  write_file_atomically(questions, "{\"question\": \"Who?\", \"answers\": [\"x\"]}\n");
  const auto asked = run_buoy({"eval", "--model", model, "--data", questions, "--max-new-tokens", "2",
                               "--closed-book", "--out", scratch / "r"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_NE(run_buoy({"eval", "--model", model, "--data", questions, "--max-new-tokens", "2", "--closed-book",
                      "--out", scratch / "r", "--resume"})
                .out.find("asked 0 in"),
            std::string::npos);
  expect_refused(
      {"eval", "--model", model, "--data", questions, "--system", "caf\xE9", "--out", scratch / "s"}, 2,
      {"--system", "UTF-8"});
}

TEST(CommandLine, VersionNamesTheCommit) {
  const auto version = run_buoy({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_NE(version.out.find("commit "), std::string::npos) << version.out;
}

}  // namespace
}  // namespace buoy::testing
