// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/proof.hpp>

#include <algorithm>
#include <cmath>

namespace rhino::plan::labelling {
namespace {

/// The largest shift at which all messages and prices still fit into 64 bits.
int shift_for(const std::vector<Real>& messages, const std::vector<Real>& prices) {
  Real greatest = 1;
  for (const auto* values : {&messages, &prices})
    for (const Real value : *values)
      if (std::isfinite(value)) greatest = std::max(greatest, std::abs(value));
  return std::clamp(61 - static_cast<int>(std::ceil(std::log2(greatest))), 0, 40);
}

std::int64_t whole(Real value, int shift) { return std::isfinite(value) ? std::llround(std::ldexp(value, shift)) : 0; }

}  // namespace

Certificate make_certificate(const Reduction& reduction, const Tables& tables, const Dual& dual) {
  Certificate certificate;
  certificate.steps = reduction.steps;
  const auto& prices = dual.best_prices();
  const auto& messages = dual.best_messages();
  certificate.shift = shift_for(messages, prices);
  for (std::size_t t = 0; t < prices.size(); ++t) {
    const std::int64_t price = whole(prices[t], certificate.shift);
    if (price > 0) certificate.prices.push_back({reduction.times[t], price});
  }
  if (messages.empty()) return certificate;
  std::vector<int> place(tables.links(), -1);
  std::size_t next = 0;
  for (int v = 0; v < tables.size(); ++v)
    for (const auto& arc : tables.arcs(v)) {
      if (place[arc.link] < 0) {
        place[arc.link] = static_cast<int>(certificate.messages.size());
        certificate.messages.push_back({reduction.origin[v], reduction.origin[arc.other], {}, {}});
      }
      Message& message = certificate.messages[place[arc.link]];
      auto& values = message.first == reduction.origin[v] ? message.to_first : message.to_second;
      values.assign(reduction.strategies[v], 0);
      for (int s = 0; s < tables.states(v); ++s) values[reduction.labels[v][s]] = whole(messages[next++], certificate.shift);
    }
  return certificate;
}

}  // namespace rhino::plan::labelling
