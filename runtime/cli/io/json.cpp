#include "runtime/cli/io/json.hpp"

#include "storage/text/base64.hpp"

#include <nlohmann/json.hpp>

namespace hearth::cli {

std::string base64(std::string_view bytes) { return storage::encode_base64(bytes); }

nlohmann::json display_json(const value& v) {
  struct visitor {
    nlohmann::json operator()(std::monostate) const { return nullptr; }
    nlohmann::json operator()(bool b) const { return b; }
    nlohmann::json operator()(std::int64_t i) const { return i; }
    nlohmann::json operator()(double d) const { return d; }
    nlohmann::json operator()(const std::string& text) const { return text; }
    nlohmann::json operator()(const binary& b) const { return {{"base64", base64(b.bytes)}}; }
    nlohmann::json operator()(const value::array& items) const {
      auto result = nlohmann::json::array();
      for (const auto& item : items)
        result.push_back(display_json(item));
      return result;
    }
    nlohmann::json operator()(const value::map& members) const {
      auto result = nlohmann::json::object();
      for (const auto& [name, member] : members)
        result[name] = display_json(member);
      return result;
    }
    nlohmann::json operator()(const value::keyed_map& members) const {
      auto pairs = nlohmann::json::array();
      for (const auto& [at, member] : members)
        pairs.push_back({display_json(at), display_json(member)});
      return {{"map", std::move(pairs)}};
    }
  };
  return std::visit(visitor{}, v.data());
}

std::string dump(const nlohmann::json& object) {
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace hearth::cli
