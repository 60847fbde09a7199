#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "buoy/base/error.h"
#include "buoy/run/answer_record.h"
#include "buoy/run/ask/questioner.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/identity.h"
#include "buoy/run/run_folder.h"
#include "decoding.h"
#include "interruptible.h"
#include "request_json.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

// One model asked the questions of one file under one condition: all at once, or one after the other by
// whoever drives each question's steps.
class Evaluation {
 public:
  Evaluation(std::shared_ptr<ModelHandle> model, const std::string& text, const run::Changes& changes)
      : model_(std::move(model)),
        spec_(read_evaluation_spec(text, *model_, changes)),
        facts_(run::scan_data(spec_.data[0], spec_.read)),
        cell_{&spec_.models[0], &spec_.data[0], &spec_.conditions[0], 0, facts_.items},
        questioner_(model_->context(), model_->loaded(), spec_, cell_, nullptr),
        reader_(spec_.data[0].path, spec_.read) {}

  std::size_t items() const { return facts_.items; }

  // Lines of answers.jsonl, in order.
  std::vector<std::string> ask_all(const py::object& progress) {
    std::vector<std::string> lines(facts_.items);
    interruptible(progress, [&](Watch& watch) {
      run::require_features(spec_.observe);
      ModelHandle::Use use(*model_);
      std::int64_t done = 0;
      questioner_.ask({facts_.items, [](std::size_t) { return true; }},
                      [&](std::size_t number, const run::AnswerRecord& record) {
                        lines.at(number) = run::to_line(record);
                        watch.tell("questions", ++done, static_cast<std::int64_t>(facts_.items));
                      });
    });
    return lines;
  }

  // The next question, or the line of one that cannot be asked, or nothing.
  py::object next() {
    if (cell_.condition->top) throw_usage_error({run::kTopField, "no on_step beside it", "one"});
    std::optional<std::string> line;
    std::unique_ptr<Decoding> decoding;
    {
      py::gil_scoped_release released;
      const auto item = reader_.next();
      if (item) {
        auto question = questioner_.prepare(
            *item, number_,
            [&](std::size_t, const run::AnswerRecord& record) { line = run::to_line(record); });
        if (question) {
          auto request = std::make_shared<run::Request>(spec_);
          request->decode = run::fitting(
              model_->config().family, run::decoding_of(*cell_.condition, spec_.decoding(cell_.model->name)));
          record_ = question->record;
          decoding =
              std::make_unique<Decoding>(model_, std::move(request), std::move(question->prompt), number_);
        }
        ++number_;
      }
    }
    if (line) return py::str(*line);
    if (decoding) return py::cast(std::move(decoding));
    return py::none();
  }
  std::string answered(const Decoding& decoding) const {
    return run::to_line(questioner_.answered(record_, decoding.machine()));
  }

 private:
  std::shared_ptr<ModelHandle> model_;
  run::EvaluationSpec spec_;
  run::DataFacts facts_;
  run::QuestionCell cell_;
  run::Questioner questioner_;
  questions::ItemReader reader_;
  std::size_t number_ = 0;
  run::AnswerRecord record_;  // of the last question
};

}  // namespace

void bind_evaluation(py::module_& module) {
  using Released = py::call_guard<py::gil_scoped_release>;
  py::class_<Evaluation>(module, "Evaluation")
      .def(py::init<std::shared_ptr<ModelHandle>, const std::string&, const run::Changes&>(), Released(),
           py::arg("model"), py::arg("request"), py::arg("changes"))
      .def_property_readonly("items", &Evaluation::items)
      .def("ask_all", &Evaluation::ask_all)
      .def("next", &Evaluation::next)
      .def("answered", &Evaluation::answered);
}

}  // namespace buoy::python
