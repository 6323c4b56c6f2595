#include "runtime/orchestrator/plan_requests.hpp"

#include "runtime/process/worker/trial_buffers.hpp"

#include <algorithm>
#include <map>

namespace hearth::orchestrator {
namespace {

class request_maker {
public:
  request_maker(plan& work, std::size_t kernel, const kernel_places& places)
      : work_(work)
      , index_(kernel)
      , kernel_(work.kernels[kernel])
      , places_(places) {}

  expected<void> make(std::size_t shape) {
    plan_request request;
    request.kernel = index_;
    request.shape = shape;
    use_shape(shape);
    if (auto chosen = choose_guard(request); !chosen) return chosen;
    if (auto sized = size_buffers(request); !sized) return sized;
    request.entry = entry_of(request);
    work_.entries[request.entry].requests.push_back(work_.requests.size());
    work_.requests.push_back(std::move(request));
    return {};
  }

private:
  void use_shape(std::size_t shape) {
    shape_ = shape;
    sizes_.clear();
    for (std::size_t i = 0; i < kernel_.symbols.size(); ++i)
      sizes_[kernel_.symbols[i]] = kernel_.shapes[shape][i];
  }

  // "for m = 8, n = 0"
  std::string shape_text() const {
    std::string text;
    for (std::size_t i = 0; i < kernel_.symbols.size(); ++i)
      text += (i == 0 ? "" : ", ") + kernel_.symbols[i] + " = " +
              std::to_string(kernel_.shapes[shape_][i]);
    return "for " + (text.empty() ? "the shape {}" : text);
  }

  tl::unexpected<error> refuse(const plan_place& place, errc code, const std::string& what) const {
    return fail(plan_error(work_.path, place, code, what));
  }

  expected<void> choose_guard(plan_request& request) const {
    for (std::size_t i = 0; i < kernel_.guards.size(); ++i) {
      const auto holds = kernel_.guards[i].evaluate(sizes_);
      if (!holds)
        return refuse(places_.guards[i], holds.error().code(),
                      holds.error().text() + ", " + shape_text());
      if (!*holds) continue;
      request.guard = i;
      return {};
    }
    if (kernel_.guards.empty()) return {};
    return refuse(places_.shapes[shape_], errc::malformed,
                  "no guard holds " + shape_text() + "; add one, such as \"True\"");
  }

  expected<void> size_buffers(plan_request& request) const {
    std::size_t bytes = 0; // size of all buffers
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const auto& buffer = kernel_.buffers[i];
      request.buffers.push_back({buffer.type, {}, buffer.output});
      auto size = worker::size_of(buffer.type);
      for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
        const auto extent = extent_of(buffer.shape[d], places_.dimensions[i][d]);
        if (!extent) return fail(extent.error());
        request.buffers.back().shape.push_back(*extent);
        if (__builtin_mul_overflow(size, static_cast<std::size_t>(*extent), &size) ||
            size > worker::max_trial_bytes - bytes)
          return refuse(places_.dimensions[i][d], errc::too_large,
                        "the buffers have more than 4 GiB " + shape_text());
      }
      bytes += size;
    }
    return {};
  }

  expected<std::int64_t> extent_of(const guard_expression& dimension,
                                   const plan_place& place) const {
    const auto extent = dimension.evaluate_value(sizes_);
    if (!extent)
      return refuse(place, extent.error().code(), extent.error().text() + ", " + shape_text());
    if (*extent < 1)
      return refuse(place, errc::malformed,
                    "a dimension of " + std::to_string(*extent) + " " + shape_text() +
                        "; it has to be 1 or more");
    return *extent;
  }

  // The entry that serves a request: that of its guard or, without guards, of its sizes.
  std::size_t entry_of(const plan_request& request) {
    const auto sizes = request.guard ? std::vector<std::int64_t>{} : kernel_.shapes[shape_];
    const auto [at, added] = entries_.try_emplace({request.guard, sizes}, work_.entries.size());
    if (added) work_.entries.push_back({.kernel = index_, .guard = request.guard, .requests = {}});
    return at->second;
  }

  plan& work_;
  std::size_t index_;
  const plan_kernel& kernel_;
  const kernel_places& places_;
  std::size_t shape_ = 0;
  symbol_values sizes_;
  std::map<std::pair<std::optional<std::size_t>, std::vector<std::int64_t>>, std::size_t> entries_;
};

} // namespace

expected<void> add_requests(plan& work, std::size_t kernel, const kernel_places& places) {
  request_maker maker(work, kernel, places);
  for (std::size_t shape = 0; shape < work.kernels[kernel].shapes.size(); ++shape)
    if (auto made = maker.make(shape); !made) return made;
  return {};
}

} // namespace hearth::orchestrator
