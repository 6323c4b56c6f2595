#include "actors/remote_chain.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace hearth::actors {
namespace chained {
namespace {

using chain_pointer = remote_chain_actor::stateful_pointer<remote_chain_state>;
using question_ptr = std::shared_ptr<remote_chain_state::question>;
using asked_set_ptr = std::shared_ptr<remote_chain_state::asked_set>;

bool takes(const chained_tier& one, const cache_key& key) {
  return !one.takes || one.takes(key.cache->id);
}

bool may_read(const chained_tier& one, const cache_key& key) {
  return one.mode != remote_mode::write_only && takes(one, key);
}

bool may_write(const chained_tier& one, const cache_key& key) {
  return one.mode != remote_mode::read_only && takes(one, key);
}

std::uint64_t last_change(const remote_chain_state& state) {
  for (const auto& one : state.config.tiers)
    if (one.journal) return one.journal->last(); // the host's, the same in all
  return 0;
}

// --- changes meanwhile -------------------------------------------------------------------------

void note_changed(remote_chain_state& state, const cache_key& key) {
  constexpr std::size_t max_changed = 4096;
  if (state.open_lookups == 0) return;
  ++state.last_event;
  if (state.changed.size() >= max_changed) {
    state.changed.clear();
    state.all_changed = state.last_event;
  }
  state.changed[key] = state.last_event;
}

bool was_changed_since(const remote_chain_state& state, const cache_key& key, std::uint64_t event) {
  const auto at = state.changed.find(key);
  return state.all_changed > event || (at != state.changed.end() && at->second > event);
}

void end_lookup(remote_chain_state& state) {
  if (--state.open_lookups == 0) state.changed.clear();
}

// --- look-ups ----------------------------------------------------------------------------------

void end_question(chain_pointer self, question_ptr asked) {
  for (const auto place : asked->open)
    if (!asked->is_asked[place]) asked->answers[place] = lookup::unanswered();
  end_lookup(self->state);
  asked->reply.deliver(std::move(asked->answers));
}

// Writes what a tier had to the nearer ones, behind.
void fill_nearer(chain_pointer self, const remote_chain_state::question& asked, std::size_t place,
                 std::size_t from, const artifact& value) {
  auto& state = self->state;
  const auto& key = asked.keys[place];
  if (was_changed_since(state, key, asked.began)) return;
  for (std::size_t i = 0; i < from; ++i)
    if (may_write(state.config.tiers[i], key))
      self->send(state.config.tiers[i].actor, verb::promote_v, key, value, asked.change);
}

// Takes in what a tier answered for the keys at `places`.
void take_answers(chain_pointer self, const question_ptr& asked,
                  const std::vector<std::size_t>& places, std::size_t from,
                  const lookup_list& found) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = places[i];
    asked->is_asked[place] = true;
    if (found[i] && found[i]->hit()) {
      fill_nearer(self, *asked, place, from, found[i]->value);
      asked->answers[place] = found[i];
      std::erase(asked->open, place);
    } else if (!found[i] || found[i]->is_unanswered) {
      asked->answers[place] = lookup::unanswered();
    }
  }
}

// Asks the tiers from this one on, one after the other, for the keys that are open.
void ask_tiers(chain_pointer self, const question_ptr& asked, std::size_t from) {
  const auto& tiers = self->state.config.tiers;
  for (; from < tiers.size(); ++from) {
    std::vector<std::size_t> places;
    key_list keys;
    for (const auto place : asked->open)
      if (may_read(tiers[from], asked->keys[place])) {
        places.push_back(place);
        keys.push_back(asked->keys[place]);
      }
    if (places.empty()) continue;
    self->request(tiers[from].actor, caf::infinite, verb::get_v, std::move(keys))
        .then(
            [self, asked, places, from](const lookup_list& found) {
              take_answers(self, asked, places, from, found);
              ask_tiers(self, asked, from + 1);
            },
            [self, asked, places, from](const caf::error&) {
              take_answers(self, asked, places, from,
                           lookup_list(places.size(), lookup::unanswered()));
              ask_tiers(self, asked, from + 1);
            });
    return;
  }
  end_question(self, asked);
}

void look_up(chain_pointer self, const key_list& keys, shared_promise<lookup_list> reply) {
  auto& state = self->state;
  auto asked = std::make_shared<remote_chain_state::question>();
  asked->keys = keys;
  asked->answers.resize(keys.size());
  asked->is_asked.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    asked->open.push_back(i);
  asked->began = state.last_event;
  asked->change = last_change(state);
  asked->reply = std::move(reply);
  ++state.open_lookups;
  ask_tiers(self, asked, 0);
}

// --- writes ------------------------------------------------------------------------------------

// Tells every tier of a put or erase.
template <class Verb, class... Parts>
void tell_change(chain_pointer self, Verb what, const cache_key& key, std::uint64_t change,
                 const Parts&... parts) {
  note_changed(self->state, key);
  for (const auto& one : self->state.config.tiers)
    if (takes(one, key)) self->send(one.actor, what, key, parts..., change);
}

// `what`: `verb::insert` or `verb::promote`
template <class Verb>
void insert(chain_pointer self, Verb what, const cache_key& key, const artifact& value,
            std::uint64_t change) {
  for (const auto& one : self->state.config.tiers)
    if (takes(one, key)) self->send(one.actor, what, key, value, change);
}

// Another host's purge was heard from this tier: the nearer ones lose the entry too, unless its
// writer tells them.
void pass_on_purge(chain_pointer self, const cache_key& key, std::uint64_t from,
                   const std::string& told) {
  note_changed(self->state, key);
  const auto& tiers = self->state.config.tiers;
  for (std::size_t i = 0; i < std::min<std::size_t>(from, tiers.size()); ++i) {
    const auto& nearer = tiers[i];
    if (!nearer.journal || !takes(nearer, key)) continue;
    if (told.find(nearer.log) != std::string::npos) continue;
    const auto noted = nearer.journal->note_alone(key, storage::unheard_change::kind::erase);
    self->send(nearer.actor, verb::erase_v, key, noted.which);
  }
}

// --- sets --------------------------------------------------------------------------------------

// Gives each tier that answered the members that only others have.
void give_missing(chain_pointer self, const remote_chain_state::asked_set& asked,
                  const member_set& all) {
  const auto& tiers = self->state.config.tiers;
  if (was_changed_since(self->state, asked.key, asked.began)) return;
  for (std::size_t i = 0; i < asked.asked.size(); ++i) {
    const auto& one = tiers[asked.asked[i]];
    if (!asked.found[i].is_answered || !may_write(one, asked.key)) continue;
    set_change missing;
    missing.joined = all.without(asked.found[i].members);
    if (!missing.joined.empty()) self->send(one.actor, verb::merge_v, asked.key, missing);
  }
}

void take_set(chain_pointer self, const asked_set_ptr& asked, std::size_t place,
              fleet_members found) {
  asked->found[place] = std::move(found);
  if (--asked->open != 0) return;
  fleet_members all;
  all.is_answered = std::all_of(asked->found.begin(), asked->found.end(),
                                [](const auto& one) { return one.is_answered; });
  for (const auto& one : asked->found)
    all.members.merge(one.members);
  give_missing(self, *asked, all.members);
  end_lookup(self->state);
  asked->reply.deliver(std::move(all));
}

void find_set(chain_pointer self, const cache_key& key, shared_promise<fleet_members> reply) {
  auto& state = self->state;
  const auto& tiers = state.config.tiers;
  const auto asked = std::make_shared<remote_chain_state::asked_set>();
  for (std::size_t i = 0; i < tiers.size(); ++i)
    if (may_read(tiers[i], key)) asked->asked.push_back(i);
  if (asked->asked.empty()) return reply.deliver(fleet_members{});
  asked->key = key;
  asked->began = state.last_event;
  asked->open = asked->asked.size();
  asked->found.resize(asked->open);
  asked->reply = std::move(reply);
  ++state.open_lookups;
  for (std::size_t place = 0; place < asked->asked.size(); ++place)
    self->request(tiers[asked->asked[place]].actor, caf::infinite, verb::find_set_v, key)
        .then([self, asked,
               place](const fleet_members& found) { take_set(self, asked, place, found); },
              [self, asked, place](const caf::error&) { take_set(self, asked, place, {}); });
}

void change_set(chain_pointer self, const cache_key& key, const set_change& change) {
  for (const auto& one : self->state.config.tiers)
    if (takes(one, key)) self->send(one.actor, verb::merge_v, key, change);
}

// --- leases ------------------------------------------------------------------------------------

// Asks the farthest of the first `count` tiers that can give leases: most hosts share it. If it
// cannot tell, the next nearer one is asked.
void ask_lease(chain_pointer self, const cache_key& key, reply_target<fleet_lease> reply,
               std::size_t count) {
  const auto& tiers = self->state.config.tiers;
  while (count != 0) {
    const auto which = --count;
    if (tiers[which].mode != remote_mode::read_write || !takes(tiers[which], key)) continue;
    self->request(tiers[which].actor, caf::infinite, verb::lock_v, key)
        .then(
            [self, key, reply, which](fleet_lease outcome) mutable {
              if (outcome == fleet_lease::unavailable) return ask_lease(self, key, reply, which);
              if (outcome == fleet_lease::ours) self->state.leases[key] = which;
              reply.deliver(outcome);
            },
            [self, key, reply, which](const caf::error&) { ask_lease(self, key, reply, which); });
    return;
  }
  reply.deliver(fleet_lease::unavailable);
}

void give_back(chain_pointer self, const cache_key& key) {
  const auto held = self->state.leases.extract(key);
  if (!held.empty())
    self->send(self->state.config.tiers[held.mapped()].actor, verb::release_v, key);
}

// --- all tiers ---------------------------------------------------------------------------------

// Answers when all tiers have answered, or failed, or not in their time.
template <class Verb, class Deadline>
caf::result<done> ask_all(chain_pointer self, Verb what, Deadline deadline_of) {
  const shared_promise<done> reply(self->make_response_promise<done>());
  const auto open = std::make_shared<std::size_t>(self->state.config.tiers.size());
  const auto end_one = [reply, open] {
    if (--*open == 0) reply.deliver(done{});
  };
  for (const auto& one : self->state.config.tiers)
    self->request(one.actor, deadline_of(one), what)
        .then([end_one](const done&) { end_one(); }, [end_one](const caf::error&) { end_one(); });
  return reply.promise();
}

caf::result<remote_tier_stats> stats(chain_pointer self) {
  const shared_promise<remote_tier_stats> reply(self->make_response_promise<remote_tier_stats>());
  const auto count = self->state.config.tiers.size();
  const auto all = std::make_shared<std::vector<remote_tier_stats>>(count);
  const auto open = std::make_shared<std::size_t>(count);
  const auto end_one = [reply, all, open] {
    if (--*open == 0) reply.deliver(actors::sum_of(std::move(*all)));
  };
  for (std::size_t i = 0; i < count; ++i)
    self->request(self->state.config.tiers[i].actor, caf::infinite, verb::stats_v)
        .then(
            [all, end_one, i](const remote_tier_stats& one) {
              (*all)[i] = one;
              end_one();
            },
            [end_one](const caf::error&) { end_one(); });
  return reply.promise();
}

// --- sums --------------------------------------------------------------------------------------

// How bad the state of a breaker is.
int badness(std::string_view state) { return state == "open" ? 2 : state == "half_open" ? 1 : 0; }

constexpr std::array sums{&remote_tier_stats::openings,
                          &remote_tier_stats::waiting,
                          &remote_tier_stats::in_flight,
                          &remote_tier_stats::bytes,
                          &remote_tier_stats::dropped,
                          &remote_tier_stats::too_large,
                          &remote_tier_stats::leases_held,
                          &remote_tier_stats::leases_granted,
                          &remote_tier_stats::leases_elsewhere,
                          &remote_tier_stats::leases_endless,
                          &remote_tier_stats::leases_unavailable,
                          &remote_tier_stats::leases_lost,
                          &remote_tier_stats::purges_heard,
                          &remote_tier_stats::unheard};

} // namespace
} // namespace chained

void add_counts(remote_cache_counts& into, const remote_cache_counts& more) {
  for (const auto member :
       {&remote_cache_counts::hits, &remote_cache_counts::misses, &remote_cache_counts::puts,
        &remote_cache_counts::existed, &remote_cache_counts::skipped, &remote_cache_counts::lost})
    into.*member += more.*member;
  for (const auto& [reason, count] : more.failures)
    into.failures[reason] += count;
}

remote_tier_stats sum_of(std::vector<remote_tier_stats> each) {
  remote_tier_stats all;
  std::map<std::pair<std::string, std::string>, remote_cache_counts> caches;
  for (const auto& one : each) {
    all.name += (all.name.empty() ? "" : " ") + one.name;
    const bool is_worse = chained::badness(one.state) > chained::badness(all.state);
    if (all.state.empty() || is_worse) all.state = one.state;
    if (!one.problem.empty() && (all.problem.empty() || is_worse)) all.problem = one.problem;
    if (all.writes.empty() || chained::badness(one.writes) > chained::badness(all.writes))
      all.writes = one.writes;
    for (const auto member : chained::sums)
      all.*member += one.*member;
    for (const auto& counts : one.caches) {
      auto& into = caches[{counts.cache, counts.version}];
      into.cache = counts.cache;
      into.version = counts.version;
      add_counts(into, counts);
    }
  }
  for (auto& [name, counts] : caches)
    all.caches.push_back(std::move(counts));
  all.each = std::move(each);
  return all;
}

remote_chain_actor::behavior_type remote_chain(chained::chain_pointer self,
                                               remote_chain_config config) {
  self->state.config = std::move(config);
  return {
      [self](verb::get, const key_list& keys) {
        const shared_promise<lookup_list> reply(self->make_response_promise<lookup_list>());
        chained::look_up(self, keys, reply);
        return reply.promise();
      },
      [self](verb::insert, const cache_key& key, const artifact& value, std::uint64_t change) {
        chained::insert(self, verb::insert_v, key, value, change);
      },
      [self](verb::promote, const cache_key& key, const artifact& value, std::uint64_t change) {
        chained::insert(self, verb::promote_v, key, value, change);
      },
      [self](verb::put, const cache_key& key, const artifact& value, std::uint64_t change) {
        chained::tell_change(self, verb::put_v, key, change, value);
      },
      [self](verb::erase, const cache_key& key, std::uint64_t change) {
        chained::tell_change(self, verb::erase_v, key, change);
      },
      [self](verb::find_set, const cache_key& key) {
        const shared_promise<fleet_members> reply(self->make_response_promise<fleet_members>());
        chained::find_set(self, key, reply);
        return reply.promise();
      },
      [self](verb::merge, const cache_key& key, const set_change& change) {
        chained::change_set(self, key, change);
      },
      [self](verb::lock, const cache_key& key) {
        auto promise = self->make_response_promise<fleet_lease>();
        chained::ask_lease(self, key, promise, self->state.config.tiers.size());
        return promise;
      },
      [self](verb::release, const cache_key& key) { chained::give_back(self, key); },
      [self](verb::begin) {
        for (const auto& one : self->state.config.tiers)
          self->send(one.actor, verb::begin_v);
      },
      [self](verb::hear) {
        return chained::ask_all(self, verb::hear_v,
                                [](const chained_tier&) { return caf::infinite; });
      },
      [self](verb::purge, const cache_key& key, std::uint64_t from, const std::string& told) {
        chained::pass_on_purge(self, key, from, told);
      },
      // What a tier sends to itself.
      [](verb::take_reply) {},
      [](verb::listen) {},
      [](verb::purge, const cache_key&) {},
      [](verb::clear) {},
      [](verb::tell) {},
      [](verb::ping) {},
      [](verb::renew) {},
      [](verb::resend) {},
      [self](verb::drain) {
        return chained::ask_all(self, verb::drain_v,
                                [](const chained_tier& one) { return one.drain_deadline; });
      },
      [self](verb::stats) { return chained::stats(self); },
  };
}

} // namespace hearth::actors
