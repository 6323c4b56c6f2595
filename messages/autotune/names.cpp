#include "messages/autotune/names.hpp"

namespace hearth {
namespace {

constexpr std::string_view best_config_salt = "autotune-best-config-v2";
constexpr std::string_view bundle_salt = "bundled-autotune-best-configs-v1";

} // namespace

std::string prepared_key(std::string_view filename, std::string_view tag) {
  const auto slash = filename.rfind('/');
  const auto basename = slash == std::string_view::npos ? filename : filename.substr(slash + 1);
  return sha256_stream{}.update(basename).update(":").update(tag).finish().hex();
}

std::string local_name(std::string_view prepared_key, const digest& toolchain) {
  return sha256_stream{}.update(prepared_key).update(toolchain.view()).finish().hex() +
         ".best_config";
}

std::string remote_id(const tuning_scope& scope, std::string_view configs_hash) {
  return sha256_stream{}
      .update(scope.toolchain.hex())
      .update(scope.backend_hash)
      .update(configs_hash)
      .update(best_config_salt)
      .finish()
      .hex();
}

std::string inductor_name(std::string_view cache_id, std::string_view key) {
  std::string name("pt2:");
  return name.append(cache_id).append("::").append(key).append(":c1");
}

std::string bundle_key(std::string_view code_hash, std::string_view backend_hash) {
  return sha256_stream{}.update(code_hash).update(backend_hash).update(bundle_salt).finish().hex();
}

} // namespace hearth
