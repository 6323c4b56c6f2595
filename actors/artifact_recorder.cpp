#include "actors/artifact_recorder.hpp"

#include "messages/set_kind.hpp"

#include <utility>

namespace hearth::actors {
namespace {

std::uint64_t begin(artifact_recorder_state& state, const recording_limits& limits) {
  const auto number = ++state.last_session;
  state.sessions[number].limits = limits;
  return number;
}

std::uint64_t bytes_of(const cache_key& key, const artifact& value) {
  return key.bytes.size() + value.metadata_bytes().size() + value.payload().size();
}

// What the session holds of an artifact that it notes again: the new value; of a set, the union.
artifact joined(const recorded_artifact& known, const artifact& value) {
  const auto* kind = set_kind_of(known.key.bytes);
  auto members = kind ? decode_members(known.value.payload()) : fail(errc::malformed, "");
  const auto more = kind ? decode_members(value.payload()) : fail(errc::malformed, "");
  if (!members || !more) return value;
  members->merge(*more);
  members->trim(kind->limits);
  return artifact::make(encode(*members));
}

// Notes an artifact that the session holds already.
void note_again(artifact_recorder_state::session& one, recorded_artifact& known,
                const artifact& noted) {
  const auto value = joined(known, noted);
  const auto others = one.noted.bytes - bytes_of(known.key, known.value);
  const auto bytes = others + bytes_of(known.key, value);
  if (bytes > one.limits.bytes) return static_cast<void>(++one.noted.left_out);
  one.noted.bytes = bytes;
  known.value = value;
}

void add(artifact_recorder_state::session& one, const std::string& type, const cache_key& key,
         const artifact& value) {
  const auto bytes = one.noted.bytes + bytes_of(key, value);
  if (bytes > one.limits.bytes || one.noted.artifacts.size() >= one.limits.artifacts)
    return static_cast<void>(++one.noted.left_out);
  one.places[type].emplace(key, one.noted.artifacts.size());
  one.noted.artifacts.push_back({type, key, value});
  one.noted.bytes = bytes;
}

void record(artifact_recorder_state& state, std::uint64_t number, const std::string& type,
            const cache_key& key, const artifact& value) {
  const auto at = state.sessions.find(number);
  if (at == state.sessions.end()) return; // the session has ended
  auto& one = at->second;
  const auto& of_type = one.places[type];
  const auto known = of_type.find(key);
  if (known != of_type.end())
    note_again(one, one.noted.artifacts[known->second], value);
  else
    add(one, type, key, value);
}

error no_session(std::uint64_t number) {
  return {errc::not_found, "there is no session " + std::to_string(number)};
}

caf::result<std::uint64_t> count(const artifact_recorder_state& state, std::uint64_t number) {
  const auto at = state.sessions.find(number);
  if (at == state.sessions.end()) return to_caf(no_session(number));
  return static_cast<std::uint64_t>(at->second.noted.artifacts.size());
}

caf::result<recording> finish(artifact_recorder_state& state, std::uint64_t number) {
  auto ended = state.sessions.extract(number);
  if (ended.empty()) return to_caf(no_session(number));
  return std::move(ended.mapped().noted);
}

} // namespace

artifact_recorder_actor::behavior_type artifact_recorder(artifact_recorder_pointer self, int) {
  return {
      [self](verb::begin, std::uint64_t max_bytes, std::uint64_t max_artifacts) {
        return begin(self->state, {max_bytes, max_artifacts});
      },
      [self](verb::save, std::uint64_t session, const std::string& type, const cache_key& key,
             const artifact& value) { record(self->state, session, type, key, value); },
      [self](verb::count, std::uint64_t session) { return count(self->state, session); },
      [self](verb::finish, std::uint64_t session) { return finish(self->state, session); },
  };
}

} // namespace hearth::actors
