#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "buoy/run/chat_choice.h"
#include "model_handle.h"

namespace py = pybind11;

namespace buoy::python {

void bind_tokenizer(py::module_& module) {
  py::class_<text::Tokenizer>(module, "Tokenizer")
      .def(
          "encode",
          [](const text::Tokenizer& tokenizer, const std::string& text, bool special) {
            return tokenizer.encode(text, special).ids;
          },
          py::arg("text"), py::arg("add_special_tokens") = true)
      .def(
          "spans",
          [](const text::Tokenizer& tokenizer, const std::string& text, bool special) {
            std::vector<std::pair<std::int64_t, std::int64_t>> out;
            for (const auto& span : tokenizer.encode(text, special).spans)
              out.emplace_back(static_cast<std::int64_t>(span.begin), static_cast<std::int64_t>(span.end));
            return out;
          },
          py::arg("text"), py::arg("add_special_tokens") = true)
      .def(
          "decode",
          [](const text::Tokenizer& tokenizer, const std::vector<std::int32_t>& ids, bool skip) {
            return tokenizer.decode(ids, skip);
          },
          py::arg("ids"), py::arg("skip_special_tokens") = false)
      .def("token_text", &text::Tokenizer::token_text, py::arg("id"))
      .def(
          "token_id",
          [](const text::Tokenizer& tokenizer, const std::string& token) {
            return tokenizer.token_id(token);
          },
          py::arg("token"))
      .def("is_special", &text::Tokenizer::is_special, py::arg("id"))
      .def("__len__", &text::Tokenizer::id_limit);
}

}  // namespace buoy::python
