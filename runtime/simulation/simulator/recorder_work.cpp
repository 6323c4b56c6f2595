#include "runtime/simulation/simulator/run.hpp"

#include "runtime/simulation/text.hpp"

#include <algorithm>

namespace hearth::simulation {

void random_run::work_in_recording(worker_state& worker) {
  if (!worker.recording) return begin_recording(worker);
  switch (random_.below(8)) {
  case 0: return finish_recording(worker);
  case 1: return count_recorded(worker);
  case 2: return best_tuning(worker, random_.below(autotune_keys_.size()));
  case 3: return save_tuning(worker, random_.below(autotune_keys_.size()));
  default: return record_something(worker);
  }
}

// Begins a recording, with limits that it often reaches.
void random_run::begin_recording(worker_state& worker) {
  recording_model begun;
  begun.limits.bytes = random_.one_in(2) ? 1u << 20 : random_.between(50, 1000);
  begun.limits.artifacts = random_.between(1, 12);
  const auto moment_begun = begin_question(worker);
  request<std::uint64_t>(
      worker, actor_of<artifact_recorder_actor>(worker, actor_kind::recorder),
      [=, this, &worker](const expected<std::uint64_t>& number) mutable {
        if (!number) return check_error(hosts_.at(worker.host), moment_begun, number.error());
        begun.number = *number;
        worker.recording = begun;
      },
      verb::begin_v, begun.limits.bytes, begun.limits.artifacts);
}

// Notes an entry, or an artifact of a host's type; nothing answers.
void random_run::record_something(worker_state& worker) {
  const auto k = random_.below(keys_.size());
  const auto bytes = new_value(k);
  const auto& recorder = actor_of<artifact_recorder_actor>(worker, actor_kind::recorder);
  const auto number = worker.recording->number;
  const std::string type = random_.one_in(3) ? "sources" : "entry";
  worker.self->sender().send(recorder, verb::save_v, number, type, keys_[k].key,
                             artifact::make(bytes));
  note_artifact(worker, type, keys_[k].key, bytes);
  rest(worker);
}

void random_run::note_artifact(worker_state& worker, const std::string& type, const cache_key& key,
                               std::string bytes) {
  if (!worker.recording) return;
  worker.recording->bytes += key.bytes.size() + bytes.size();
  worker.recording->noted[{type, text_of(key)}].push_back(std::move(bytes));
}

void random_run::count_recorded(worker_state& worker) {
  const auto begun = begin_question(worker);
  request<std::uint64_t>(
      worker, actor_of<artifact_recorder_actor>(worker, actor_kind::recorder),
      [=, this, &worker](const expected<std::uint64_t>& count) {
        if (!count) return check_error(hosts_.at(worker.host), begun, count.error());
        const auto& model = *worker.recording;
        const bool is_full = model.may_leave_out();
        if (*count > model.limits.artifacts || *count > model.noted.size() ||
            (!is_full && *count != model.noted.size()))
          violate(worker.name + " has recorded " + std::to_string(*count) + " artifacts of " +
                  std::to_string(model.noted.size()));
      },
      verb::count_v, worker.recording->number);
}

void random_run::finish_recording(worker_state& worker) {
  const auto model = *std::exchange(worker.recording, std::nullopt);
  const auto begun = begin_question(worker);
  request<recording>(
      worker, actor_of<artifact_recorder_actor>(worker, actor_kind::recorder),
      [=, this, &worker](const expected<recording>& ended) {
        if (!ended) return check_error(hosts_.at(worker.host), begun, ended.error());
        if (const auto wrong = model.judge(*ended); !wrong.empty())
          violate(worker.name + " got of a recording " + wrong);
      },
      verb::finish_v, model.number);
}

// Whether the notes exceed the limits, all values of an artifact counted.
bool recording_model::may_leave_out() const {
  return bytes > limits.bytes || noted.size() > limits.artifacts;
}

// Describes the mistake of a finished recording; empty: none.
std::string recording_model::judge(const recording& ended) const {
  std::set<std::pair<std::string, std::string>> seen;
  std::uint64_t sum = 0;
  for (const auto& one : ended.artifacts) {
    const auto at = noted.find({one.type, text_of(one.key)});
    if (at == noted.end()) return "an artifact that nobody noted, " + text_of(one.key);
    if (!seen.insert(at->first).second) return text_of(one.key) + " twice";
    const auto& values = at->second;
    const bool is_known =
        std::find(values.begin(), values.end(), one.value.payload()) != values.end();
    if (!is_known || (ended.left_out == 0 && values.back() != one.value.payload()))
      return "not the last value of " + text_of(one.key);
    sum += one.key.bytes.size() + one.value.metadata_bytes().size() + one.value.payload().size();
  }
  if (sum != ended.bytes) return std::to_string(ended.bytes) + " bytes, which are not its own";
  if (sum > limits.bytes || ended.artifacts.size() > limits.artifacts)
    return "more than its limits";
  if (ended.left_out == 0 && seen.size() != noted.size())
    return std::to_string(seen.size()) + " artifacts of " + std::to_string(noted.size());
  if (ended.left_out != 0 && !may_leave_out()) return "less than its limits allow";
  return {};
}

// All recordings end.
void random_run::end_recordings() {
  for (auto& worker : workers_)
    if (worker.recording) finish_recording(worker);
  answer_all();
}

} // namespace hearth::simulation
