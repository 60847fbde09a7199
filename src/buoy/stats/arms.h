#pragma once

#include <cstdint>
#include <span>

#include "buoy/stats/estimate.h"

// Networks that were asked the same questions, one number each: intervals of their means, and two arms of
// networks compared.
namespace buoy::stats {

// One number per network with its own interval over questions: all that is known where the values of single
// questions are not at hand.
struct NetworkNumber {
  double value = 0;
  double error = 0;            // standard error over its questions
  std::int64_t questions = 0;  // that it rests on
};

// The standard error that an interval of so much confidence speaks of: half its width over the normal
// quantile.
double error_of_interval(const Interval& interval, double confidence);

// The mean of networks as a number with two independent sources of error: networks, and the questions that
// all of them were asked.
struct ArmMean {
  double mean = 0;
  double variance_of_networks = 0;   // s^2 / n, with n - 1 degrees of freedom
  double variance_of_questions = 0;  // the mean of the squared errors, see arm_mean()
  std::int64_t networks = 0, questions = 0;
  double deviation = 0;  // of the population of networks
};

// Questions are shared, so what they add does not shrink with the number of networks. Of the squared error of
// one network, it is the part that all networks have in common: the whole is taken, which is conservative.
ArmMean arm_mean(std::span<const NetworkNumber> networks);

// mean +- t, for other networks and other questions. The degrees of freedom are those of both parts together
// (Satterthwaite). No interval for fewer than two networks.
Estimate arm_estimate(const ArmMean& arm, double confidence);

// one - factor * other, by Welch: the parts of both arms, and Satterthwaite's degrees of freedom. Errors of
// questions are added as if both arms had been asked different ones: conservative where hard questions are
// hard for both.
Estimate difference_of_arms(const ArmMean& one, const ArmMean& other, double confidence, double factor = 1);

// one / other, by Fieller: the factors for which the difference above may be 0, with the degrees of freedom
// at the ratio itself. No interval where `other` is not surely above 0.
Estimate ratio_of_arms(const ArmMean& one, const ArmMean& other, double confidence);

}  // namespace buoy::stats
