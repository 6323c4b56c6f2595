// A shared object in this process, and its symbols. Any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <memory>
#include <string>
#include <type_traits>

namespace HEARTH_PUBLIC hearth {

/// A loaded shared object. Copies share it. It is unloaded when its last copy is destroyed and its
/// cache has released it; its symbols must not be used from then on.
class loaded_module {
public:
  class handle; ///< handle of the dynamic loader
  explicit loaded_module(std::shared_ptr<const handle> of)
      : handle_(std::move(of)) {}

  /// The function or variable of that name: `symbol<int(int)>("f")`, `symbol<const int>("x")`. The
  /// type is not checked. Errors: `not_found`.
  template <class T>
  expected<T*> symbol(const std::string& name) const {
    auto address = find(name);
    if (!address) return fail(address.error());
    if constexpr (std::is_function_v<T>)
      return reinterpret_cast<T*>(*address);
    else
      return static_cast<T*>(*address);
  }

  /// Whether both are the same object in this process.
  friend bool operator==(const loaded_module& a, const loaded_module& b) noexcept {
    return a.handle_ == b.handle_;
  }

private:
  expected<void*> find(const std::string& name) const;

  std::shared_ptr<const handle> handle_;
};

} // namespace hearth
