// The cache behind LLVM's FileCache interface, which ThinLTO asks for the objects of its backends.
#pragma once

#include <hearth/llvm/cache.hpp>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/Caching.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace hearth {
namespace detail {

/// Collects what a backend writes. When it is done, inserts the object and adds it to the link;
/// nothing is inserted or added when nothing was written.
class llvm_entry_stream final : public llvm::CachedFileStream {
public:
  using add_function = std::function<void(std::unique_ptr<llvm::MemoryBuffer>)>;

  llvm_entry_stream(llvm_cache objects, key k, std::chrono::steady_clock::time_point start,
                    std::string name, add_function add)
      : CachedFileStream(nullptr)
      , objects_(std::move(objects))
      , key_(std::move(k))
      , start_(start)
      , name_(std::move(name))
      , add_(std::move(add)) {
    OS = std::make_unique<llvm::raw_svector_ostream>(written_);
  }
  /// Commits, where LLVM has no `commit`.
  ~llvm_entry_stream() override { store(); }

  /// Overrides where LLVM has it (21 and later), and is called once there.
  llvm::Error commit() {
    if (auto why = commit_base<CachedFileStream>(*this)) return why;
    store();
    return llvm::Error::success();
  }

private:
  // A template, since `commit` does not exist in every version.
  template <class Base>
  static llvm::Error commit_base(Base& stream) {
    if constexpr (requires { stream.Base::commit(); }) return stream.Base::commit();
    return llvm::Error::success();
  }

  void store() {
    OS.reset();
    if (written_.empty()) return;
    const auto object = objects_.insert(key_, {written_.data(), written_.size()},
                                        std::chrono::steady_clock::now() - start_);
    written_.clear();
    add_(llvm_buffer_of(object, name_));
  }

  llvm_cache objects_;
  key key_;
  std::chrono::steady_clock::time_point start_;
  std::string name_; // of the buffer
  add_function add_;
  llvm::SmallVector<char, 0> written_;
};

/// A FileCache, which is a function up to LLVM 21 and a class from 22 on.
template <class Cache, class Find>
Cache file_cache_of(Find find) {
  if constexpr (std::is_constructible_v<Cache, Find, std::string>)
    return Cache(std::move(find), std::string());
  else
    return Cache(std::move(find));
}

} // namespace detail

/// The cache of `llvm::lto::LTO::run`. A hit goes to `add_buffer`, which must be thread-safe; a
/// miss gives the backend a stream, whose end inserts the object and gives it to `add_buffer`.
/// Backends that miss at the same time all compile; the first insert wins.
///
/// The key is LLVM's own, which covers the module, what it imports, the target and the options of
/// the link; with LLVM's version and the salt.
inline llvm::FileCache llvm_file_cache(llvm_cache objects, llvm::AddBufferFn add_buffer) {
  // `name`: the module's name, from LLVM 16 on; nothing before.
  auto find = [objects = std::move(objects), add_buffer = std::move(add_buffer)](
                  unsigned task, llvm::StringRef id,
                  const auto&... name) -> llvm::Expected<llvm::AddStreamFn> {
    const auto k =
        key::tuple({key::text("llvm lto"), key::text(LLVM_VERSION_STRING),
                    key::text(objects.options().salt), key::text({id.data(), id.size()})});
    if (auto found = objects.get(k, id)) {
      add_buffer(task, name..., std::move(found));
      return llvm::AddStreamFn();
    }
    const auto start = std::chrono::steady_clock::now();
    return llvm::AddStreamFn(
        [objects, add_buffer, k, start, id = id.str()](unsigned of, const auto&... of_name)
            -> llvm::Expected<std::unique_ptr<llvm::CachedFileStream>> {
          auto add = [add_buffer, of,
                      ... names = of_name.str()](std::unique_ptr<llvm::MemoryBuffer> object) {
            add_buffer(of, llvm::Twine(names)..., std::move(object));
          };
          return std::make_unique<detail::llvm_entry_stream>(objects, k, start, id, std::move(add));
        });
  };
  return detail::file_cache_of<llvm::FileCache>(std::move(find));
}

} // namespace hearth
