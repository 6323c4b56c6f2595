#include "storage/remote/scripts.hpp"

#include <array>

namespace hearth::storage {
namespace {

constexpr std::array<std::string_view, remote_script_count> script_texts{
    // renew_lease
    "local holder = redis.call('GET', KEYS[1]) "
    "if holder == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end "
    "if holder then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1",
    // give_back
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    // add_fields: in one step, so that no hash is left without a TTL
    "redis.call('HSET', KEYS[1], unpack(ARGV, 2)) "
    "return redis.call('PEXPIRE', KEYS[1], ARGV[1])",
    // replace_mark: another host's erase may have put a mark of its own there meanwhile
    "local found = redis.call('GET', KEYS[1]) "
    "if found and found ~= ARGV[1] then return 0 end "
    "if ARGV[3] == '0' then redis.call('SET', KEYS[1], ARGV[2]) "
    "else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end return 1",
};

} // namespace

std::string_view text_of(remote_script script) noexcept {
  return script_texts[static_cast<std::size_t>(script)];
}

std::optional<remote_script> script_of(std::string_view text) noexcept {
  for (std::size_t i = 0; i < script_texts.size(); ++i)
    if (script_texts[i] == text) return static_cast<remote_script>(i);
  return std::nullopt;
}

} // namespace hearth::storage
