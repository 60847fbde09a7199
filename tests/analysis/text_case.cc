#include "analysis/text_case.h"

#include <sstream>
#include <stdexcept>

#include "buoy/base/file/gzip.h"
#include "buoy/base/sha256.h"
#include "buoy/trace/array.h"
#include "buoy/trace/writer.h"

namespace buoy::testing {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  for (std::istringstream stream(text); std::getline(stream, part, separator);) parts.push_back(part);
  if (!text.empty() && text.back() == separator) parts.emplace_back();
  return parts;
}

trace::Manifest plain_manifest(const std::string& name) {
  trace::Manifest manifest;
  manifest.created_by = "buoy test";
  manifest.model = {.name = name,
                    .family = "LLaDA",
                    .architecture = "LLaDAModelLM",
                    .stored_dtype = "F32",
                    .layers = 1,
                    .heads = 1,
                    .kv_heads = 1,
                    .head_dim = 4,
                    .hidden = 4,
                    .vocabulary = 1000,
                    .config_sha256 = sha256_hex(name),
                    .weights_sha256 = sha256_hex(name)};
  return manifest;
}

class Parser {
 public:
  explicit Parser(const std::filesystem::path& file) : file_(file), stream_(read_plain_or_gzip(file)) {
    if (!stream_) throw std::runtime_error("cannot read " + file.string());
  }

  TextCase parse() {
    while (next()) directive();
    if (case_.commands.empty()) fail("no `analyze` in the file");
    return std::move(case_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(file_.string() + ":" + std::to_string(number_) + ": " + what);
  }

  // The next line that is no comment and not empty.
  bool next() {
    while (std::getline(stream_, line_)) {
      ++number_;
      if (!line_.empty() && line_[0] != '#') return true;
    }
    return false;
  }

  void directive() {
    std::istringstream words(line_);
    std::string kind, name;
    words >> kind >> name;
    if (kind == "trace") {
      trace_ = &case_.traces[name];
      trace_->manifest = plain_manifest(name);
    } else if (kind == "model") {
      words = std::istringstream(line_.substr(5));
      for (std::string pair; words >> pair;) set_model(pair);
    } else if (kind == "sample") {
      trace().manifest.sample_ids.push_back(name);
      trace().samples.push_back({name, {}, {}});
    } else if (kind == "text" || kind == "list") {
      std::string rest;
      std::getline(words >> std::ws, rest);
      sample().metadata[name] = rest;
    } else if (kind == "floats" || kind == "ints" || kind == "bytes") {
      array(kind, name, words);
    } else if (kind == "analyze") {
      command(name, words);
    } else if (kind == "error") {
      if (case_.commands.empty()) fail("`error` belongs below `analyze`");
      case_.commands.back().error = line_.substr(6);
    } else if (kind == "expect") {
      expectation(name, words);
    } else {
      fail("unknown line: " + line_);
    }
  }

  TextTrace& trace() {
    if (trace_ == nullptr) fail("no `trace` yet");
    return *trace_;
  }
  trace::Sample& sample() {
    if (trace().samples.empty()) fail("no `sample` yet");
    return trace().samples.back();
  }

  void set_model(const std::string& pair) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) fail("expected name=value, found " + pair);
    const std::string key = pair.substr(0, equals), value = pair.substr(equals + 1);
    auto& model = trace().manifest.model;
    if (key == "family") {
      model.family = value;
    } else if (key == "name") {
      model.name = value;
      model.config_sha256 = model.weights_sha256 = sha256_hex(value);
    } else if (key == "layers") {
      model.layers = std::stoll(value);
    } else if (key == "heads") {
      model.heads = std::stoll(value);
    } else if (key == "kv_heads") {
      model.kv_heads = std::stoll(value);
    } else if (key == "head_dim") {
      model.head_dim = std::stoll(value);
    } else {
      fail("unknown part of a model: " + key);
    }
  }

  // name [2,3] v v v ..., continued on lines that begin with a space; `x3` repeats a value: "0.5x3".
  void array(const std::string& kind, const std::string& name, std::istringstream& words) {
    std::string shape_text;
    words >> shape_text;
    std::vector<std::int64_t> shape;
    for (const auto& part : split(shape_text.substr(1, shape_text.size() - 2), ','))
      shape.push_back(std::stoll(part));
    std::vector<double> values;
    const auto take = [&](std::istream& from) {
      for (std::string word; from >> word;) {
        const size_t times = word.find('x');
        const int repeat = times == std::string::npos ? 1 : std::stoi(word.substr(times + 1));
        values.insert(values.end(), static_cast<size_t>(repeat), std::stod(word.substr(0, times)));
      }
    };
    take(words);
    while (stream_.peek() == ' ') {
      std::getline(stream_, line_);
      ++number_;
      std::istringstream more(line_);
      take(more);
    }
    try {
      if (kind == "floats") {
        sample().arrays.push_back(
            trace::float_array(name, shape, std::vector<float>(values.begin(), values.end())));
      } else if (kind == "ints") {
        sample().arrays.push_back(
            trace::integer_array(name, shape, std::vector<std::int32_t>(values.begin(), values.end())));
      } else {
        sample().arrays.push_back(
            trace::byte_array(name, shape, std::vector<std::uint8_t>(values.begin(), values.end())));
      }
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  void command(const std::string& analysis, std::istringstream& words) {
    Command command{number_, analysis, {}, {}, "", {}};
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      if (equals == std::string::npos) {
        if (!case_.traces.contains(word)) fail("no trace " + word);
        command.traces.push_back(word);
      } else {
        command.options[word.substr(0, equals)] = word.substr(equals + 1);
      }
    }
    if (command.traces.empty()) fail("`analyze NAME TRACE...` names no trace");
    case_.commands.push_back(std::move(command));
  }

  // expect TABLE [column=value ...], then a header and rows, comma-separated, up to an empty line.
  void expectation(const std::string& table, std::istringstream& words) {
    if (case_.commands.empty()) fail("`expect` belongs below `analyze`");
    Expectation expected{number_, table, {}, {}, {}};
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      if (equals == std::string::npos) fail("expected column=value, found " + word);
      expected.where[word.substr(0, equals)] = word.substr(equals + 1);
    }
    while (std::getline(stream_, line_)) {
      ++number_;
      if (line_.empty()) break;
      if (line_[0] == '#') continue;
      if (expected.columns.empty()) {
        expected.columns = split(line_, ',');
      } else {
        expected.rows.push_back(split(line_, ','));
        if (expected.rows.back().size() != expected.columns.size()) fail("a row as long as the header");
      }
    }
    case_.commands.back().expected.push_back(std::move(expected));
  }

  std::filesystem::path file_;
  std::istringstream stream_;
  std::string line_;
  int number_ = 0;
  TextCase case_;
  TextTrace* trace_ = nullptr;
};

}  // namespace

TextCase read_text_case(const std::filesystem::path& file) {
  return Parser(file).parse();
}

void write_trace(const std::filesystem::path& folder, const TextTrace& trace) {
  auto writer = trace::TraceWriter::create(folder, trace.manifest);
  for (const auto& sample : trace.samples) writer.write(sample);
  writer.finish();
}

}  // namespace buoy::testing
