#include "buoy/study/study.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/nearest.h"
#include "buoy/study/study_plan.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::study {
namespace {

using testing::fails_with;
using testing::TempFolder;

const std::filesystem::path kStudies = std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / "studies";

class StudyFile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  }

  Study read(const std::string& text) const { return read_study(folder_.write("study.toml", text)); }

  // A study that is right, with one more line in front of its tables.
  static std::string with(const std::string& line) {
    return "[models]\na = \"models/a\"\n[[data]]\nname = \"d\"\nfile = \"d.jsonl\"\n[[evaluate]]\nname = "
           "\"e\"\ndata = "
           "\"d\"\n" +
           line;
  }

  TempFolder folder_;
};

std::string toml_value(const decode::DecodeOption& option) {
  return std::visit(
      [](const auto member) -> std::string {
        using Value = std::remove_cvref_t<decltype(decode::DecodeOptions{}.*member)>;
        if constexpr (std::is_same_v<Value, bool>) return "true";
        if constexpr (std::is_same_v<Value, std::optional<std::string>>) return "\"random\"";
        if constexpr (std::is_same_v<Value, std::vector<std::int32_t>>) return "[1, 2]";
        return "1";
      },
      option.field);
}

TEST_F(StudyFile, AListOfFoldersIsAnArm) {
  const auto study = read(
      "[models]\nb = [\"n/1\", \"n/2\"]\na = \"n/0\"\n[models.c]\npath = [\"n/3\", \"n/4\"]\nsteps = 4\n"
      "[[data]]\nname = \"d\"\nfile = \"d.jsonl\"\n[[evaluate]]\nname = \"e\"\ndata = \"d\"\nmodels = "
      "[\"b\", "
      "\"c.2\"]\n[siblings]\ntables = [\"t.csv\"]\n");
  ASSERT_EQ(study.models.size(), 5u);
  EXPECT_EQ(study.models[0].name, "b.1");
  EXPECT_EQ(study.models[1].name, "b.2");
  EXPECT_EQ(study.models[1].path, "n/2");
  EXPECT_EQ(study.models[1].arm, "b");
  EXPECT_EQ(study.models[2].name, "a");
  EXPECT_EQ(study.models[2].arm, "");
  EXPECT_EQ(study.models[4].name, "c.2");
  EXPECT_EQ(study.models[4].decoding.values.steps, 4);
  ASSERT_EQ(study.siblings.size(), 1u);
  std::vector<std::string> names;
  const StudyPlan plan(study);
  for (const auto* model : plan.models_of(study.evaluations[0].models)) names.push_back(model->name);
  EXPECT_EQ(names, (std::vector<std::string>{"b.1", "b.2", "c.2"}));
}

TEST_F(StudyFile, ArmsThatAreNoneAreRefused) {
  const auto arm = [](const std::string& list) {
    return "[models]\na = " + list + "\n" + with("").substr(with("").find("[[data]]"));
  };
  EXPECT_TRUE(fails_with<InputError>([&] { read(arm("[]")); }, {"models.a", "at least one folder", "none"}));
  EXPECT_TRUE(
      fails_with<InputError>([&] { read(arm("[\"x\", 3]")); }, {"models.a", "texts in the list", "3"}));
  EXPECT_TRUE(fails_with<InputError>([&] { read(arm("[\"x\", \"x\"]")); },
                                     {"models.a", "different networks", "twice"}));
  EXPECT_TRUE(fails_with<InputError>([&] { read(arm("[\"\"]")); }, {"models.a", "folders", "empty"}));
  EXPECT_TRUE(
      fails_with<InputError>([&] { read(arm("[\"x\"]\n\"a.1\" = \"y\"")); }, {"models", "\"a.1\" twice"}));
  EXPECT_TRUE(fails_with<InputError>([&] { read(with("[siblings]\n")); }, {"siblings", "tables", "none"}));
  EXPECT_TRUE(fails_with<InputError>([&] { read(with("[siblings]\ntable = \"x\"\n")); },
                                     {"siblings.table", "\"tables\"?"}));
}

TEST_F(StudyFile, EveryDecodingOptionIsAKey) {
  std::string table = "[decoding]\n";
  for (const auto& option : decode::kDecodeOptions)
    table += std::string(option.key) + " = " + toml_value(option) + "\n";
  const auto decoding = read(with(table)).decoding;
  EXPECT_EQ(decoding.given.size(), decode::kDecodeOptions.size());
  decode::DecodeOptions options;
  decoding.apply_to(options);
  EXPECT_EQ(options.eos_tokens, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(options.seed, 1u);
  EXPECT_TRUE(options.logits_eos_inf);
  EXPECT_TRUE(fails_with<InputError>([&] { read(with("[decoding]\neos_tokens = [1, -2]\n")); },
                                     {"decoding.eos_tokens", "0 or more", "-2"}));
}

TEST_F(StudyFile, DataMayBeDescribed) {
  const auto described = [](const std::string& text) {
    const std::string study = with("");
    return study.substr(0, study.find("file =")) + "description = " + text + "\n" +
           study.substr(study.find("file ="));
  };
  EXPECT_EQ(read(with("")).data[0].description, "");
  EXPECT_EQ(read(described("\"What is asked.\"")).data[0].description, "What is asked.");
  EXPECT_TRUE(fails_with<InputError>([&] { read(described("\"" + std::string(301, 'x') + "\"")); },
                                     {"data.description", "at most 300 characters", "301"}));
  EXPECT_TRUE(fails_with<InputError>([&] { read(described("3")); }, {"data.description", "text"}));
}

// A reader of the page learns what was asked from the studies that are shipped.
TEST(ShippedStudies, DescribeTheirData) {
  for (const char* name : {"default", "family", "quick"}) {
    const auto study = read_study(std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / "studies" /
                                  (std::string(name) + ".toml"));
    for (const auto& data : study.data)
      EXPECT_TRUE(data.description.ends_with('.')) << name << ": " << data.name << ": " << data.description;
  }
}

TEST_F(StudyFile, APartMayDecodeDifferently) {
  const auto study = read(
      "[decoding]\nmax_new_tokens = 8\ntemperature = 0.5\n[models]\na = \"n/0\"\n[models.b]\npath = \"n/1\"\n"
      "max_new_tokens = 16\n[[data]]\nname = \"d\"\nfile = \"d.jsonl\"\n"
      "[[trace]]\nname = \"long\"\ndata = \"d\"\ndecoding = { max_new_tokens = 32 }\n"
      "[[trace]]\nname = \"short\"\ndata = \"d\"\n"
      "[[evaluate]]\nname = \"e\"\ndata = \"d\"\nclosed_book = true\ndecoding = { max_new_tokens = 64 }\n");
  const StudyPlan plan(study);
  const auto& [a, b] = std::tie(study.models[0], study.models[1]);
  for (const auto* model : {&a, &b}) {  // the part's word is the last, also over the model's own
    EXPECT_EQ(plan.decoding(*model, study.traces[0]).max_new_tokens, 32);
    EXPECT_EQ(plan.decoding(*model, study.traces[0]).temperature, 0.5);
    EXPECT_EQ(plan.decoding(*model, study.evaluations[0]).max_new_tokens, 64);
  }
  EXPECT_EQ(plan.decoding(a, study.traces[1]).max_new_tokens, 8);
  EXPECT_EQ(plan.decoding(b, study.traces[1]).max_new_tokens, 16);
  EXPECT_TRUE(fails_with<InputError>(
      [&] { read(with("[[trace]]\nname = \"t\"\ndata = \"d\"\ndecoding = { max_new_token = 8 }\n")); },
      {"trace.decoding.max_new_token", "\"max_new_tokens\"?"}));
}

// The ends of the row, whatever their sign, and not one beyond them; TOML itself ends at 64 bits.
TEST_F(StudyFile, WholeNumbersOfDecodingHaveTheBoundsOfTheirRow) {
  const auto key_with = [](const decode::DecodeOption& option, std::int64_t number) {
    return with("[decoding]\n" + std::string(option.key) + " = " + std::to_string(number) + "\n");
  };
  const auto try_ends = [&]<typename Integer>(const decode::DecodeOption& option, Integer) {
    const auto range = decode::whole_numbers<Integer>(option.bounds);
    const auto least = static_cast<std::int64_t>(range.least);
    EXPECT_EQ(read(key_with(option, least)).decoding.given.size(), 1u) << option.key;
    if (least > std::numeric_limits<std::int64_t>::min()) {
      EXPECT_TRUE(fails_with<InputError>([&] { read(key_with(option, least - 1)); },
                                         {"decoding." + std::string(option.key),
                                          std::to_string(least) + " or more", std::to_string(least - 1)}));
    }
    if (std::cmp_greater_equal(range.most, std::numeric_limits<std::int64_t>::max())) return;
    const auto most = static_cast<std::int64_t>(range.most);
    EXPECT_EQ(read(key_with(option, most)).decoding.given.size(), 1u) << option.key;
    EXPECT_TRUE(fails_with<InputError>([&] { read(key_with(option, most + 1)); },
                                       {"decoding." + std::string(option.key),
                                        "at most " + std::to_string(most), std::to_string(most + 1)}));
  };
  int tried = 0;
  for (const auto& option : decode::kDecodeOptions) {
    std::visit(
        [&](const auto member) {
          using Value = std::remove_cvref_t<decltype(decode::DecodeOptions{}.*member)>;
          const auto try_as = [&](auto number) { try_ends(option, number), ++tried; };
          if constexpr (std::is_same_v<Value, std::int32_t> || std::is_same_v<Value, std::uint64_t>)
            try_as(Value{});
          if constexpr (std::is_same_v<Value, std::optional<std::int32_t>> ||
                        std::is_same_v<Value, std::optional<std::int64_t>>)
            try_as(typename Value::value_type{});
          if constexpr (std::is_same_v<Value, std::vector<std::int32_t>>) try_as(std::int32_t{});
        },
        option.field);
  }
  EXPECT_GE(tried, 8);
}

TEST_F(StudyFile, EveryStudyOfTheRepositoryReads) {
  int studies = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kStudies)) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_NO_THROW(read_study(entry.path())) << entry.path();
    ++studies;
  }
  EXPECT_GE(studies, 3);
}

TEST_F(StudyFile, ThePublishedStudyHasTheFourModelsInTheirOrderAndTheirSettings) {
  const Study study = read_study(kStudies / "paper.toml");
  ASSERT_EQ(study.models.size(), 4u);
  EXPECT_EQ(study.models[0].name, "llada");
  EXPECT_EQ(study.models[1].name, "dream");
  EXPECT_EQ(study.models[2].name, "llama");
  EXPECT_EQ(study.models[3].name, "qwen");
  EXPECT_EQ(study.models[0].decoding.values.steps, 32);
  EXPECT_EQ(study.models[0].decoding.values.block_length, 32);
  EXPECT_EQ(study.models[1].decoding.values.algorithm, "entropy");
  EXPECT_EQ(study.models[1].decoding.values.temperature, 0.2);
  EXPECT_EQ(study.models[1].decoding.values.top_p, 0.95);
  EXPECT_FALSE(study.models[2].decoding.values.steps);
  EXPECT_EQ(study.decoding.values.max_new_tokens, 32);
  EXPECT_EQ(study.evaluations[0].request.arrangement.passages, 5);
  EXPECT_TRUE(study.evaluations[0].closed_book);
  EXPECT_EQ(study.evaluations[0].data.size(), 5u);
}

TEST_F(StudyFile, WhatIsNotGivenKeepsItsDefault) {
  const Study study = read(with(""));
  EXPECT_EQ(study.out, "build/study");
  EXPECT_EQ(study.prompt.chat, "auto");
  EXPECT_EQ(study.evaluations[0].request.arrangement.passages, -1);
  EXPECT_EQ(study.evaluations[0].noise_kind, "random");
  EXPECT_TRUE(study.report.analyses.empty());
}

TEST_F(StudyFile, TracesKeepTablesUnlessTheStudyOrTheySayMore) {
  const std::string traces =
      "[[trace]]\nname = \"t\"\ndata = \"d\"\n[[trace]]\nname = \"u\"\ndata = \"d\"\nkeep = \"full\"\n";
  const auto study = read(with(traces));
  EXPECT_EQ(study.traces.at(0).request.keep, trace::Level::kTables);
  EXPECT_EQ(study.traces.at(1).request.keep, trace::Level::kFull);
  const auto more = read("keep = \"compact\"\n" + with(traces));
  EXPECT_EQ(more.traces.at(0).request.keep, trace::Level::kCompact);
  EXPECT_EQ(more.traces.at(1).request.keep, trace::Level::kFull);
  EXPECT_TRUE(fails_with<InputError>([&] { read("keep = \"everything\"\n" + with(traces)); },
                                     {"keep", "tables, compact, full", "\"everything\""}));
  const std::string closer = with(traces + "compact_samples = 2\n");
  EXPECT_TRUE(fails_with<InputError>([&] { read(closer); },
                                     {"compact_samples", "keep = \"compact\"", "keep = \"full\""}));
  EXPECT_TRUE(fails_with<InputError>([&] { read(with(traces + "predicted_tokens = 3\n")); },
                                     {"predicted_tokens", "predictions among observe", "observe = \"all\""}));
  const auto predicted = read(with(traces + "observe = \"all,predictions\"\npredicted_tokens = 3\n"));
  EXPECT_EQ(predicted.traces.at(1).request.plan().predicted_tokens, 3);
  // Columns are chosen from arrays.
  EXPECT_NO_THROW(read(with("columns_from = \"u\"\n" + traces)));
  EXPECT_TRUE(fails_with<InputError>([&] { read(with("columns_from = \"t\"\n" + traces)); },
                                     {"evaluate e: columns_from", "full", "t, which keeps tables"}));
}

TEST_F(StudyFile, UnknownKeysAreRefusedWithTheNearestKnownOne) {
  const auto refuses = [&](const std::string& text, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { read(text); }, parts);
  };
  EXPECT_TRUE(
      refuses(with("passagse = 5\n"), {"study.toml:9: evaluate.passagse", "\"passages\"?", "unknown key"}));
  EXPECT_TRUE(refuses(with("zzz = 5\n"), {"evaluate.zzz", "one of name, data", "unknown key"}));
  EXPECT_TRUE(refuses(with("[decodnig]\n"), {"decodnig", "\"decoding\"?", "unknown key"}));
  EXPECT_TRUE(refuses(with("[decoding]\nstep = 3\n"), {"decoding.step", "\"steps\"?"}));
  EXPECT_TRUE(refuses(with("[prompt]\nchatt = \"auto\"\n"), {"prompt.chatt", "\"chat\"?"}));
  EXPECT_TRUE(refuses(with("[[trace]]\nname = \"t\"\ndata = \"d\"\nobserv = \"all\"\n"),
                      {"trace.observ", "\"observe\"?"}));
  EXPECT_TRUE(
      refuses(with("heads = { trace = \"t\", shares = 1 }\n"), {"evaluate.heads.shares", "\"share\"?"}));
  EXPECT_TRUE(refuses(with("[models.b]\npath = \"b\"\ntemprature = 1\n"),
                      {"models.b.temprature", "\"temperature\"?"}));
}

TEST_F(StudyFile, WrongValuesNameLineExpectedAndFound) {
  const auto refuses = [&](const std::string& text, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { read(text); }, parts);
  };
  EXPECT_TRUE(
      refuses(with("passages = \"five\"\n"), {":9: evaluate.passages", "whole number", "text \"five\""}));
  EXPECT_TRUE(refuses(with("passages = 0\n"), {"evaluate.passages", "1 or more", "0"}));
  EXPECT_TRUE(refuses(with("closed_book = 1\n"), {"evaluate.closed_book", "true or false", "1"}));
  EXPECT_TRUE(
      refuses(with("[prompt]\nchat = \"maybe\"\n"), {"prompt.chat", "auto, always or never", "maybe"}));
  EXPECT_TRUE(refuses(with("models = [\"b\"]\n"), {"evaluate e: models", "\"b\", which nothing is called"}));
  EXPECT_TRUE(refuses(with("heads = { trace = \"t\" }\n"), {"evaluate e: heads.trace", "\"t\""}));
  EXPECT_TRUE(refuses(with("columns_from = \"t\"\n"), {"evaluate e: columns_from", "\"t\""}));
  EXPECT_TRUE(refuses(with("[[evaluate]]\nname = \"e\"\ndata = \"d\"\n"),
                      {"evaluate", "different names", "\"e\" twice"}));
  EXPECT_TRUE(refuses(with("[[evaluate]]\ndata = \"d\"\n"), {"evaluate", "the key \"name\"", "none"}));
  EXPECT_TRUE(
      refuses(with("[[evaluate]]\nname = \"../up\"\ndata = \"d\"\n"), {"names fit for folders", "../up"}));
  EXPECT_TRUE(
      refuses(with("[[evaluate]]\nname = \"\"\ndata = \"d\"\n"), {"evaluate.name", "some text", "none"}));
  EXPECT_TRUE(
      refuses("[models]\n\"\" = \"a\"\n" + with("").substr(9), {"models", "names for all", "without"}));
  EXPECT_TRUE(refuses(with("[[data]]\nname = \"x\"\n"), {"data", "either file, world or haystack", "none"}));
  EXPECT_TRUE(refuses("[models]\na = \"a\"\n", {"something to do", "neither"}));
  EXPECT_TRUE(refuses("[[trace]]\nname = \"t\"\ndata = \"d\"\n", {"[models] with at least one", "none"}));
  EXPECT_TRUE(refuses("a = = 1\n", {"study.toml:1", "TOML"}));
  EXPECT_TRUE(refuses("models = 3\n", {"models", "a table", "3"}));
}

// 4294967298 new tokens ran as 2.
TEST_F(StudyFile, NumbersAreNotCutToFewerBits) {
  const auto refuses = [&](const std::string& text, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { read(text); }, parts);
  };
  for (const char* key : {"steps", "block_length"}) {
    EXPECT_TRUE(refuses(with("[decoding]\n" + std::string(key) + " = 4294967298\n"),
                        {"study.toml:10: decoding." + std::string(key), "at most 2147483647", "4294967298"}));
  }
  EXPECT_TRUE(refuses(with("[[data]]\nname = \"w\"\nworld = { passages = 4294967301 }\n"),
                      {":11: data.world.passages", "at most 4294967295", "4294967301"}));
  EXPECT_TRUE(refuses(with("[[data]]\nname = \"w\"\nworld = { version = 3 }\n"),
                      {":11: data.world.version", "at most 2", "3"}));
  EXPECT_TRUE(refuses(with("[[data]]\nname = \"w\"\nworld = { count = 4294967301 }\n"),
                      {":11: data.world.count", "at most 10000000", "4294967301"}));
  EXPECT_TRUE(refuses(with("[decoding]\nseed = -1\n"), {"decoding.seed", "0 or more", "-1"}));
  EXPECT_TRUE(refuses(with("[decoding]\nmax_new_tokens = 4294967298\n"),
                      {"study.toml:10: decoding.max_new_tokens", "at most 1048576", "4294967298"}));
  const auto largest =
      read(with("[decoding]\nsteps = 2147483647\nseed = 9223372036854775807\n")).decoding.values;
  EXPECT_EQ(largest.steps, 2147483647);
  EXPECT_EQ(largest.seed, 9223372036854775807u);
}

TEST_F(StudyFile, EverythingThatIsWrongIsSaidAtOnce) {
  const auto file = folder_.write(
      "many.toml",
      "titel = \"t\"\n[models]\na = 3\nb = \"b\"\n[decoding]\nsteps = 0\ntemperature = \"hot\"\n[[data]]\n"
      "name = \"d\"\nfile = \"d.jsonl\"\n[[trace]]\nname = \"t\"\ndata = \"dd\"\nlimit = -1\n[[evaluate]]\n"
      "name = \"e\"\ndata = [\"d\", 7]\nmodels = \"c\"\nheads = { trace = \"s\", shaer = 0.1 }\n");
  const auto reading = read_study_and_problems(file);
  std::string all;
  for (const auto& problem : reading.problems) all += problem + "\n";
  for (const char* said : {":1: titel", ":3: models.a", ":6: decoding.steps", ":7: decoding.temperature",
                           "trace t: data", ":14: trace.limit", ":17: evaluate.data", "evaluate e: models",
                           "evaluate.heads.shaer", "evaluate e: heads.trace"})
    EXPECT_NE(all.find(said), std::string::npos) << said << " is not in\n" << all;
  EXPECT_EQ(reading.study.models.size(), 1u) << "what is right is read";
  EXPECT_TRUE(fails_with<InputError>([&] { read_study(file); }, {"many.toml", "problems", "titel"}));
}

TEST_F(StudyFile, HostileFilesAreRefused) {
  const auto refuses = [](const std::string& name, std::initializer_list<std::string> parts) {
    const auto file = std::filesystem::path(BUOY_TEST_DATA) / "study" / "abuse" / name;
    return fails_with<InputError>([&] { read_study(file); }, parts);
  };
  EXPECT_TRUE(refuses("letter_outside_strings.toml", {"strings.toml:3", "ASCII outside of strings"}));
  EXPECT_TRUE(refuses("stray_byte.toml", {"stray_byte.toml", "well-formed UTF-8", "offset 11"}));
  EXPECT_TRUE(refuses("not_a_number.toml", {":2: decoding.temperature", "a number", "nan"}));
  EXPECT_TRUE(refuses("endless_number.toml", {":8: evaluate.heads.share", "a number", "inf"}));
  EXPECT_TRUE(refuses("nul_in_path.toml", {":1: out", "text without NUL"}));
  EXPECT_TRUE(refuses("control_character_in_name.toml", {"evaluate", "names fit for folders"}));
  EXPECT_TRUE(refuses("many_parts.toml", {"many_parts.toml:2", "a key of at most 16 parts"}));
}

TEST_F(StudyFile, HoweverLongAKeyOrANameIsItIsRefusedInNoTime) {
  const auto refuses = [&](const std::string& text, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { read(text); }, parts);
  };
  std::string parts = "a";
  for (int i = 0; i < 200'000; ++i) parts += ".a";
  EXPECT_TRUE(refuses('[' + parts + "]\n", {"study.toml:1", "at most 16 parts"}));
  EXPECT_TRUE(refuses(parts + " = 1\n", {"study.toml:1", "at most 16 parts"}));
  const std::string word(400'000, 'w');
  EXPECT_TRUE(refuses(word + " = 1\n", {"study.toml:1", "an unknown key"}));
  EXPECT_TRUE(refuses("[models]\n" + word + " = \"a\"\n[[data]]\nname = \"d\"\nfile = \"f\"\n[[evaluate]]\n" +
                          "name = \"e\"\ndata = \"d\"\nmodels = \"" + word + "x\"\n",
                      {"evaluate e: models", "which nothing is called"}));
  EXPECT_TRUE(refuses(std::string((1 << 20) + 1, '\n'), {"study.toml", "1048576"}));
}

TEST_F(StudyFile, StringsAndCommentsHoldWhatTheyLike) {
  const Study study = read(
      "\xEF\xBB\xBF"
      R"(title = """Straße "so"""" # ü. . . . . . . . . . . . . . . . . . . .
)" + with(R"(sweep = 'ü ................. \' # ä
prompt = ''''ö'''''
)"));
  EXPECT_EQ(study.title, "Straße \"so\"");
  EXPECT_EQ(study.evaluations[0].sweep, "ü ................. \\");
  EXPECT_EQ(study.evaluations[0].request.prompt_template, "'ö''");
}

TEST_F(StudyFile, AMissingFileIsSaid) {
  EXPECT_TRUE(fails_with<InputError>([&] { read_study(folder_ / "none.toml"); }, {"none.toml"}));
}

TEST(Nearest, FindsWhatIsMeantAndNothingElse) {
  const std::vector<std::string> known = {"passages", "noise", "noise_kind", "sweep"};
  EXPECT_EQ(nearest("pasages", known), "passages");
  EXPECT_EQ(nearest("passagse", known), "passages");
  EXPECT_EQ(nearest("nosie", known), "noise");
  EXPECT_EQ(nearest("noisekind", known), "noise_kind");
  EXPECT_EQ(nearest("temperature", known), "");
  EXPECT_EQ(nearest("", known), "");
  const std::string long_word(65, 'w');
  EXPECT_EQ(nearest(long_word, {long_word}), "") << "only words people type";
}

}  // namespace
}  // namespace buoy::study
