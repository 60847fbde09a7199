// Traces from somebody else: every field of a real trace is changed in many ways, with all sums put right,
// and is refused by the reader and by the program with the file and the field. Nothing is computed from such
// a trace.

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "support/edited_trace.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::EditedTrace;
using testing::run_buoy;
using testing::TempFolder;

struct Edit {
  std::string what;
  std::vector<std::string> said;  // in this order
  std::function<void(EditedTrace&)> change;
};

// One question of the pair's, with everything there is to observe; made once.
const std::filesystem::path& real_trace() {
  static const TempFolder folder;
  static const std::filesystem::path trace = [] {
    testing::trace_pair(folder / "t", {true, 1, 2, {"--observe", "all", "--groups", "regions"}});
    return folder / "t";
  }();
  return trace;
}

constexpr std::int32_t kHuge = std::numeric_limits<std::int32_t>::max();

std::vector<Edit> manifest_edits() {
  std::vector<Edit> edits;
  const auto add = [&](const std::string& key, const Json& value) {
    edits.push_back({"model." + key + " " + value.dump(),
                     {"manifest.json", "model: " + key},
                     [=](EditedTrace& t) { t.model(key) = value; }});
  };
  for (const char* key : {"layers", "heads", "kv_heads", "head_dim", "hidden", "vocabulary"}) {
    for (const Json& value : {Json(0), Json(-1), Json(1.5), Json("4"), Json(nullptr), Json(INT64_MAX),
                              Json(UINT64_MAX), Json(std::int64_t{1} << 32), Json(1e300), Json::array()})
      add(key, value);
  }
  add("kv_heads", 3);
  for (const char* key : {"name", "family", "config_sha256", "weights_sha256"}) add(key, 5);
  const auto at_top = [&](const std::string& key, const Json& value) {
    edits.push_back({key + " " + value.dump(), {"manifest.json", key}, [=](EditedTrace& t) {
                       t.manifest[key] = value;
                       t.fix_sums = key != "samples";
                     }});
  };
  at_top("format", "other");
  at_top("version", 5);
  at_top("level", "tables");
  at_top("version", UINT64_MAX);
  at_top("complete", "yes");
  at_top("storage", "F64");
  at_top("seed", -1);
  at_top("seed", 0.5);
  at_top("samples", Json::object());
  at_top("decoding", Json::array());
  at_top("probe", 3);
  const auto of_entry = [&](const std::string& key, const Json& value) {
    edits.push_back(
        {"samples[0]." + key + " " + value.dump(), {"manifest.json", "samples[0]", key}, [=](EditedTrace& t) {
           t.manifest["samples"][0][key] = value;
           t.fix_sums = false;
         }});
  };
  of_entry("id", "../../etc/passwd");
  of_entry("file", "samples/../manifest.json");
  of_entry("bytes", -1);
  of_entry("bytes", "many");
  of_entry("checksum", "abc");
  of_entry("tree_sha256", "abc");
  of_entry("status", "maybe");
  return edits;
}

// Fields of the manifest that fit by themselves and not to the sample.
std::vector<Edit> disagreements() {
  const auto heads = [](std::int64_t count) {
    return [=](EditedTrace& t) { t.model("heads") = t.model("kv_heads") = count; };
  };
  return {
      {"heads 64", {".safetensors", "H = 64 as in the manifest"}, heads(64)},
      {"heads 3", {".safetensors", "H = 3 as in the manifest"}, heads(3)},
      {"kv_heads",
       {".safetensors", "V = 1 as in the manifest"},
       [](EditedTrace& t) { t.model("kv_heads") = 1; }},
      {"fewer layers", {".safetensors", "L from 1 to 2"}, [](EditedTrace& t) { t.model("layers") = 2; }},
      {"a small vocabulary",
       {".safetensors: tokens", "integers from 0 to 4"},
       [](EditedTrace& t) {
         t.model("vocabulary") = 5;
         t.header["__metadata__"].erase("mask_token");
       }},
      {"no mask in the vocabulary",
       {".safetensors", "mask_token"},
       [](EditedTrace& t) { t.model("vocabulary") = 5; }},
      {"storage",
       {".safetensors", "F32 as the manifest's storage says", "F16"},
       [](EditedTrace& t) {
         t.header["entropy"]["dtype"] = "F16";
         auto shape = t.header["entropy"]["shape"].get<std::vector<std::int64_t>>();
         t.reshape("entropy", shape);
       }},
  };
}

std::vector<Edit> text_edits() {
  std::vector<Edit> edits;
  const auto add = [&](const std::string& key, const Json& value) {
    edits.push_back(
        {key + " " + value.dump(), {".safetensors", key}, [=](EditedTrace& t) { t.text(key) = value; }});
  };
  for (const char* key : {"prompt_length", "mask_token", "prediction_offset", "final_step"}) {
    for (const char* value : {"-1", "", "x", "1e3", "99999999999999999999", "4294967297", "2147483648", "3 "})
      add(key, value);
  }
  add("prompt_length", "100000");
  add("prediction_offset", "2");
  add("final_step", "1");
  add("attention", "sideways");
  add("format", "buoy-trace");
  add("version", "4");
  for (const char* key : {"token_texts", "group_names", "region_names", "gold_regions", "answers"}) {
    for (const char* value : {"", "[", "{}", "[1]", "\"a\"", "[[\"a\"]]"}) add(key, value);
  }
  for (const char* key : {"token_texts", "group_names", "region_names"}) add(key, R"(["one"])");
  add("gold_regions", R"(["nowhere"])");
  edits.push_back({"id", {".safetensors", "sample"}, [](EditedTrace& t) { t.text("id") = "other"; }});
  return edits;
}

std::vector<Edit> array_edits() {
  std::vector<Edit> edits;
  const auto put = [&](const std::string& array, std::int64_t at, std::int32_t value) {
    edits.push_back({array + "[" + std::to_string(at) + "] = " + std::to_string(value),
                     {".safetensors: " + array},
                     [=](EditedTrace& t) { t.set_integer(array, at, value); }});
  };
  for (const char* array : {"tokens", "tokens_by_step", "steps", "layers", "row_positions", "group_sizes"}) {
    put(array, 0, -1);
    put(array, 1, kHuge);
  }
  put("steps", 0, 7);  // descending
  put("steps", 1, 0);  // twice
  put("layers", 0, 3);
  put("layers", 5, 6);
  put("row_positions", 1, 0);
  put("revealed_at", 0, 0);
  put("revealed_at", 0, -2);
  put("top_keys", 0, -2);
  put("top_keys", 5, kHuge);
  const auto flag = [&](const std::string& array, std::uint8_t value) {
    edits.push_back({array + " " + std::to_string(value), {".safetensors: " + array}, [=](EditedTrace& t) {
                       t.set_byte(array, 3, value);
                     }});
  };
  flag("evidence", 2);
  flag("special", 255);
  flag("region_of_token", 200);
  edits.push_back({"revealed_at beyond the last step", {".safetensors: revealed_at"}, [](EditedTrace& t) {
                     const auto tokens = t.header["tokens"]["shape"][0].get<std::int64_t>();
                     t.set_integer("revealed_at", tokens - 1, 8);
                   }});
  // Sizes: every array one shorter and one longer in each dimension, and with a dimension more.
  const EditedTrace whole(real_trace());
  for (const auto& [name, entry] : whole.header.items()) {
    if (name == "__metadata__") continue;
    const auto shape = entry["shape"].get<std::vector<std::int64_t>>();
    for (size_t i = 0; i < shape.size(); ++i) {
      for (const std::int64_t size : {shape[i] - 1, shape[i] + 1, std::int64_t{0}}) {
        auto other = shape;
        other[i] = size;
        edits.push_back({name + " " + Json(other).dump(),
                         {".safetensors"},
                         [name = name, other](EditedTrace& t) { t.reshape(name, other); }});
      }
    }
    auto more = shape;
    more.push_back(1);
    edits.push_back({name + " " + Json(more).dump(),
                     {".safetensors: " + name, "shape"},
                     [name = name, more](EditedTrace& t) { t.header[name]["shape"] = more; }});
    edits.push_back({name + " of another type", {".safetensors: " + name}, [name = name](EditedTrace& t) {
                       t.header[name]["dtype"] = "U32";
                     }});
  }
  edits.push_back(
      {"no group_sizes", {".safetensors: group_sizes"}, [](EditedTrace& t) { t.remove("group_sizes"); }});
  return edits;
}

// Behind the checks of sizes: values are compared when they are read.
std::vector<Edit> value_edits() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<Edit> edits;
  for (const float value : {-0.5f, kInfinity, -kInfinity, std::nanf("")}) {
    edits.push_back({"received " + std::to_string(value),
                     {".safetensors: received", "at 0"},
                     [=](EditedTrace& t) { t.set_float("received", 0, value); }});
  }
  return edits;
}

class HostileTrace : public ::testing::Test {
 protected:
  // The whole trace as this edit leaves it.
  std::filesystem::path edited(const Edit& edit) {
    EditedTrace trace(real_trace());
    edit.change(trace);
    scratch_ = std::make_unique<TempFolder>();
    trace.write(*scratch_ / "t");
    return *scratch_ / "t";
  }

  static ::testing::AssertionResult names(const std::string& message, const std::vector<std::string>& parts) {
    size_t at = 0;
    for (const auto& part : parts) {
      at = message.find(part, at);
      if (at == std::string::npos)
        return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << message;
    }
    return ::testing::AssertionSuccess();
  }

  void expect_refused(const std::vector<Edit>& edits, bool run_the_program) {
    for (const auto& edit : edits) {
      SCOPED_TRACE(edit.what);
      const auto folder = edited(edit);
      bool refused = false;
      try {
        const auto reader = trace::TraceReader::open(folder);
        for (const auto& entry : reader.samples()) {
          const auto sample = reader.read(entry.id);
          if (sample.has(trace::kReceived)) sample.floats(trace::kReceived);
        }
      } catch (const InputError& error) {
        refused = true;
        EXPECT_TRUE(names(error.what(), edit.said));
      } catch (const std::exception& error) {
        ADD_FAILURE() << "another error: " << error.what();
      }
      EXPECT_TRUE(refused) << "the reader took it";
      if (!run_the_program) continue;
      // Nobody compares sums here, so only the schema stands between the file and the numbers.
      const auto run = run_buoy({"analyze", "floating", "--trust", "--replicates", "10", folder.string()});
      EXPECT_EQ(run.exit_code, 3) << run.err;
      EXPECT_TRUE(names(run.err, edit.said));
      EXPECT_TRUE(run.out.empty()) << run.out;
    }
  }

  std::unique_ptr<TempFolder> scratch_;
};

TEST_F(HostileTrace, TheUnchangedOneIsTakenAndSoAreNotesForPeople) {
  const auto floating = [&](const std::filesystem::path& trace) {
    const auto run = run_buoy({"analyze", "floating", "--replicates", "10", "x=" + trace.string()});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out;
  };
  const std::string numbers = floating(real_trace());
  EXPECT_FALSE(numbers.empty());
  const Edit notes = {"", {}, [](EditedTrace& t) {
                        t.model("name") = "renamed";
                        t.manifest["command"] = t.manifest["machine"] = "elsewhere";
                        t.manifest["later"] = {{"a", 1}};
                      }};
  EXPECT_EQ(floating(edited(notes)), numbers);
}

TEST_F(HostileTrace, FieldsOfTheManifest) {
  expect_refused(manifest_edits(), false);
}

TEST_F(HostileTrace, AManifestThatDoesNotFitItsSamples) {
  expect_refused(disagreements(), true);
}

TEST_F(HostileTrace, TextsOfASample) {
  expect_refused(text_edits(), false);
}

TEST_F(HostileTrace, ArraysOfASample) {
  expect_refused(array_edits(), false);
}

TEST_F(HostileTrace, ValuesThatNoAttentionHas) {
  expect_refused(value_edits(), true);
}

// What the reader refuses, the program refuses: one edit of each list goes through every analysis.
TEST_F(HostileTrace, EveryAnalysisEndsWithTheFileAndTheField) {
  const std::vector<Edit> edits = {manifest_edits().front(), text_edits().front(), array_edits()[12]};
  for (const auto& edit : edits) {
    SCOPED_TRACE(edit.what);
    const auto folder = edited(edit);
    for (const char* name :
         {"floating", "drift", "absorption", "qk", "retrieval", "flow", "structure", "tasks"}) {
      const auto run = run_buoy({"analyze", name, "--trust", "--replicates", "10", folder.string()});
      EXPECT_EQ(run.exit_code, 3) << name << run.err;
      EXPECT_TRUE(names(run.err, edit.said)) << name;
    }
    for (const auto& call :
         {std::vector<std::string>{"report", folder.string(), "--out", folder.string() + ".r"},
          std::vector<std::string>{"inspect", folder.string()},
          std::vector<std::string>{"export", folder.string(), "--out", folder.string() + ".x"}}) {
      const auto run = run_buoy(call);
      EXPECT_EQ(run.exit_code, 3) << call[0] << run.err;
      EXPECT_TRUE(names(run.out + run.err, edit.said)) << call[0];
    }
  }
}

// A field of the manifest that no sample can contradict changes tables: its own sum finds that.
TEST_F(HostileTrace, AManifestThatWasChangedByHand) {
  const TempFolder scratch;
  const auto folder = scratch / "t";
  std::filesystem::copy(real_trace(), folder, std::filesystem::copy_options::recursive);
  std::string text = read_file(folder / "manifest.json");
  const size_t at = text.find("\"head_dim\": ");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 12, "1");
  write_file_atomically(folder / "manifest.json", text);
  const auto run = run_buoy({"analyze", "qk", folder.string()});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(names(run.err, {"manifest.json: checksum", "--trust"}));
}

}  // namespace
}  // namespace buoy
