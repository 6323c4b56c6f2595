#include "runtime/server/access/users_file.hpp"

#include "runtime/os/files/file_problem.hpp"
#include "runtime/os/files/plain_file.hpp"
#include "runtime/os/files/whole_file.hpp"
#include "runtime/server/access/credential_forms.hpp"
#include "runtime/server/access/toml_members.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace hearth::server {
namespace {

constexpr std::size_t max_users_file_bytes = std::size_t{4} << 20;

expected<void> read_role(const toml::node& node, user_entry& into) {
  return assign(into.who.role, toml_choice(node, {"reader", "writer", "admin"}));
}

expected<void> read_password(const toml::node& node, user_entry& into) {
  auto hash = toml_text(node);
  if (!hash) return fail(hash.error());
  if (!is_password_hash(*hash))
    return fail(errc::malformed, "is no hash of a password; make one by hearth serve "
                                 "--hash-password");
  into.password_hash = std::move(*hash);
  return {};
}

expected<void> read_token(const toml::node& node, user_entry& into) {
  auto hash = toml_text(node);
  if (!hash) return fail(hash.error());
  if (!is_token_hash(*hash))
    return fail(errc::malformed, "is no hash of a token; make both by hearth serve --new-token");
  into.token_hash = std::move(*hash);
  return {};
}

expected<void> read_namespace(const toml::node& node, user_entry& into) {
  auto name = toml_text(node);
  if (!name) return fail(name.error());
  if (!is_user_name(*name)) return fail(errc::malformed, std::string(wanted_user_name));
  into.who.name_space = std::move(*name);
  return {};
}

expected<void> read_hold(const toml::node& node, user_entry& into) {
  const auto flag = toml_flag(node);
  if (!flag) return fail(flag.error());
  into.who.hold_misses = *flag;
  return {};
}

expected<void> read_refused(const toml::node& node, user_entry& into) {
  return assign(into.who.refused, toml_choice(node, {"error", "ignore"}));
}

constexpr toml_member<user_entry> user_members[] = {
    {"role", read_role},           {"password", read_password}, {"token", read_token},
    {"namespace", read_namespace}, {"hold_misses", read_hold},  {"refused_writes", read_refused},
};

constexpr toml_member<user_list> users_file_members[] = {{"users"}};

expected<void> read_user(const std::string& file, const toml_item& item, user_list& into) {
  const auto refuse = [&](std::string_view what) {
    return fail(toml_error({file, "users"}, item.line, item.name, errc::malformed, what));
  };
  if (!is_user_name(item.name)) return refuse(wanted_user_name);
  const auto* table = item.node->as_table();
  if (!table) return refuse("has to be a table; write [users.NAME]");
  user_entry entry;
  entry.who.user = item.name;
  const toml_place place{file, "users." + entry.who.user};
  if (auto done = read_members<user_entry>(place, *table, user_members, entry); !done) return done;
  const auto same = std::find_if(into.begin(), into.end(), [&](const user_entry& other) {
    return !entry.token_hash.empty() && other.token_hash == entry.token_hash;
  });
  if (same != into.end())
    return refuse("has the token of users." + same->who.user +
                  "; make another one by hearth serve --new-token");
  into.push_back(std::move(entry));
  return {};
}

} // namespace

expected<user_list> parse_users(std::string_view text, const std::filesystem::path& file) {
  const auto root = parse_toml(text, file);
  if (!root) return fail(root.error());
  const toml_place whole{file.string(), ""};
  user_list users;
  if (auto known = read_members<user_list>(whole, *root, users_file_members, users); !known)
    return fail(known.error());
  const auto* node = root->get("users");
  if (!node) return users;
  const auto* table = node->as_table();
  if (!table)
    return fail(toml_error(whole, node->source().begin.line, "users", errc::malformed,
                           "has to be a table; write [users.NAME]"));
  for (const auto& item : toml_items(*table))
    if (auto done = read_user(whole.file, item, users); !done) return fail(done.error());
  return users;
}

expected<user_list> read_users(const std::filesystem::path& file) {
  const auto opened = os::open_regular(file);
  if (!opened) return fail(opened.error().within("users file"));
  struct stat about {};
  if (::fstat(opened->get(), &about) != 0) return fail(os::cannot("look at", file));
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(errc::permission,
                "users file: others than its owner may use " + file.string() + "; chmod 600 it");
  const auto text = os::read_rest(*opened, file, max_users_file_bytes);
  if (!text) return fail(text.error().within("users file"));
  return parse_users(*text, file);
}

} // namespace hearth::server
