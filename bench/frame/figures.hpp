// Arithmetic on measurements. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace hearth::bench {

/// The median; for an even count the mean of the middle two; 0 for no values.
double median(std::vector<double> values);
/// The value below which `fraction` (0 to 1) of `values` lie, by nearest rank; 0 for no values.
double quantile(std::vector<double> values, double fraction);
/// `over[i] / under[i]`, round by round.
std::vector<double> ratios_of(const std::vector<double>& over, const std::vector<double>& under);
/// "3.41 us"; three digits in the unit that fits.
std::string time_text(double seconds);

} // namespace hearth::bench
