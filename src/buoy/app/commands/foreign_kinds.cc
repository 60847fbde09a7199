#include <array>
#include <string_view>

#include "buoy/app/commands/file_kinds.h"
#include "buoy/base/file/lfs_pointer.h"

namespace buoy::app {
namespace {

using std::string_view_literals::operator""sv;

constexpr const char* kWeights =
    "Buoy reads safetensors: take the folder of the same model with model.safetensors and config.json";
constexpr const char* kQuestions = "questions are JSON Lines, one object in a line (docs/data-formats.md)";

bool is_zip(const Inspected& f) {
  return f.begins("PK\x03\x04"sv);
}

// Letters, commas and line ends, the same number of commas in the first two lines.
bool is_csv(const Inspected& f) {
  const auto commas = [&](std::size_t from) {
    std::size_t count = 0, at = from;
    for (; at < f.head.size() && f.head[at] != '\n'; ++at) count += f.head[at] == ',' || f.head[at] == '\t';
    return std::pair(count, at + 1);
  };
  if (f.named(".csv") || f.named(".tsv")) return true;
  if (f.head.find('\0') != std::string::npos) return false;
  const auto [first, next] = commas(0);
  return first > 0 && next < f.head.size() && commas(next).first == first;
}

constexpr std::array kForeign = {
    ForeignKind{"an empty file", "there is nothing in it: was it copied or downloaded whole?",
                [](const Inspected& f) { return f.bytes == 0; }},
    ForeignKind{"a Git LFS pointer", "the file itself was not downloaded: git lfs pull",
                [](const Inspected& f) { return is_lfs_pointer(f.head); }},
    ForeignKind{"a GGUF file (llama.cpp)", kWeights, [](const Inspected& f) { return f.begins("GGUF"); }},
    ForeignKind{"a GGML file (llama.cpp)", kWeights,
                [](const Inspected& f) { return f.begins("lmgg") || f.begins("tjgg") || f.begins("fmgg"); }},
    ForeignKind{"a PyTorch file (pickle)", kWeights,
                [](const Inspected& f) {
                  return (is_zip(f) && f.says("data.pkl")) || f.begins("\x80\x02"sv) ||
                         ((f.named(".bin") || f.named(".pt") || f.named(".pth")) && is_zip(f));
                }},
    ForeignKind{"an ONNX file", kWeights, [](const Inspected& f) { return f.named(".onnx"); }},
    ForeignKind{"an HDF5 file", kWeights, [](const Inspected& f) { return f.begins("\x89HDF"); }},
    ForeignKind{"a Parquet file", kQuestions, [](const Inspected& f) { return f.begins("PAR1"); }},
    ForeignKind{"an Arrow file", kQuestions, [](const Inspected& f) { return f.begins("ARROW1"); }},
    ForeignKind{"a SentencePiece model", "Buoy reads tokenizer.json, or vocab.json with merges.txt",
                [](const Inspected& f) { return f.name() == "tokenizer.model" || f.named(".spm"); }},
    ForeignKind{"a PDF document", "a figure of Buoy is drawn from the table of the same name in tables/",
                [](const Inspected& f) { return f.begins("%PDF"); }},
    ForeignKind{"a picture", "a figure of Buoy is drawn from the table of the same name in tables/",
                [](const Inspected& f) {
                  return f.begins("\x89PNG") || f.begins("\xFF\xD8\xFF") || f.begins("GIF8") ||
                         f.begins("<svg") || (f.begins("<?xml") && f.says("<svg"));
                }},
    ForeignKind{"a gzip file", "of these Buoy reads questions (.jsonl.gz)",
                [](const Inspected& f) { return f.begins("\x1F\x8B"); }},
    ForeignKind{"a zip file", "unpack it and inspect what is in it", is_zip},
    ForeignKind{"an xz, bzip2 or zstd file", "unpack it and inspect what is in it",
                [](const Inspected& f) {
                  return f.begins(
                             "\xFD"
                             "7zXZ") ||
                         f.begins("BZh") || f.begins("\x28\xB5\x2F\xFD");
                }},
    ForeignKind{"a program", "Buoy reads models, questions and traces",
                [](const Inspected& f) {
                  return f.begins(
                             "\x7F"
                             "ELF") ||
                         f.begins("#!");
                }},
    ForeignKind{"a page of HTML", "of these Buoy writes report.html",
                [](const Inspected& f) { return f.begins("<!doctype html") || f.begins("<html"); }},
    ForeignKind{"a table of comma- or tab-separated values", kQuestions, is_csv},
    ForeignKind{"binary data of a kind Buoy does not know", "buoy inspect --help lists what it knows",
                [](const Inspected& f) { return f.head.find('\0') != std::string::npos; }},
    ForeignKind{"text of a kind Buoy does not know", "buoy inspect --help lists what it knows",
                [](const Inspected& f) { return !f.folder; }},
};

}  // namespace

std::span<const ForeignKind> foreign_kinds() {
  return kForeign;
}

}  // namespace buoy::app
