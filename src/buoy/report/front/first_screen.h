#pragma once

#include <span>
#include <string>

#include "buoy/report/page.h"

// What a reader sees first: models, questions, findings; then folds with methods and terms.
namespace buoy::report {

std::string models_html(const ReportInput& input);
std::string findings_html(std::span<const claims::ClaimVerdict> claims);

// A paragraph for a paper: plain text.
std::string methods_text(const ReportInput& input);
std::string methods_html(const ReportInput& input);

}  // namespace buoy::report
