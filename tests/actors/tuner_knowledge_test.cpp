// The kernel tuner with tunings that are known already, and with tuning switched off.
#include "tests/support/tuning_process.hpp"

namespace tuner_knowledge_test {

using namespace hearth;
using namespace hearth::test;

namespace {

struct fixture : deterministic {
  temporary_directory directory;
  tuning_process one{*this, directory.path()};

  tune_reply tune(tuning_process& where, const tune_request_ptr& request) {
    return ask<tune_reply>(where.tuner, verb::tune_v, request).value();
  }
  static tune_request_ptr with_mode(const tune_request_ptr& request, tune_mode mode) {
    auto other = std::make_shared<tune_request>(*request);
    other->mode = mode;
    return other;
  }
  // The record of a tuning, without the artifacts.
  autotune_record tuning_of(tuning_process& where, const tune_request& request) {
    return ask<autotune_found>(where.autotune, verb::best_v, request.address,
                               actors::choices_of(request), tuning_notes{})
        ->record;
  }
  void teach(tuning_process& where, const tune_request& request, const autotune_record& record) {
    REQUIRE(ask<done>(where.autotune, verb::save_v, request.address, record, tuning_notes{}));
  }
  static std::size_t compiles(const tuning_process& where) {
    return where.fakes.processes->requests.size();
  }
  bundle_session begin(tuning_process& where) {
    return ask<bundle_session>(where.bundler, verb::begin_v, key_in("bundles", "plan"),
                               key_in("autotune", "").cache)
        .value();
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture,
                  "with the tuning alone a machine compiles the winner and tries nothing") {
  const auto request = request_for({1, 4, 2});
  const auto first = tune(one, request);
  temporary_directory elsewhere;
  tuning_process two(*this, elsewhere.path());
  teach(two, *request, tuning_of(one, *request));
  const auto made = tune(two, request);
  CHECK(made.status == tune_status::compiled);
  CHECK(made.config == first.config);
  CHECK(made.library.payload() == first.library.payload());
  CHECK(made.time_ns == first.time_ns);
  CHECK(compiles(two) == 1);
  CHECK(two.fakes.trials->count == 0);
  CHECK(tune(two, request).status == tune_status::memory);
}

TEST_CASE_FIXTURE(fixture, "a known winner that does not compile here is no answer") {
  const auto request = request_for({1, 4, 2});
  auto record = autotune_record{};
  record.config.arguments = {{"TILE", 4}};
  record.configs_hash = actors::configs_hash_of(*request);
  teach(one, *request, record);
  one.fakes.processes->answer = [&](const process_request& asked) {
    process_result result;
    result.exit_status = asked.argv.back() == "4" ? 1 : 0;
    (*one.fakes.scratch->content)["out"] = asked.argv.back();
    return result;
  };
  const auto made = tune(one, request);
  CHECK(made.config_text == "TILE=2");
  CHECK(tuning_of(one, *request).config.arguments == value::map{{"TILE", 2}});
}

TEST_CASE_FIXTURE(fixture, "a plan that gains a configuration compiles it and measures all again") {
  CHECK(tune(one, request_for({1, 2})).config_text == "TILE=2");
  one.fakes.trials->count = 0;
  const auto more = tune(one, request_for({1, 2, 4}));
  CHECK(more.config_text == "TILE=4");
  CHECK(compiles(one) == 3);
  CHECK(one.fakes.trials->count == 3);
}

TEST_CASE_FIXTURE(fixture, "a plan that loses a configuration measures nothing") {
  tune(one, request_for({1, 2, 4}));
  one.fakes.trials->count = 0;
  const auto fewer = tune(one, request_for({1, 2}));
  CHECK(fewer.config_text == "TILE=2");
  CHECK(fewer.time_ns == 500);
  CHECK(compiles(one) == 3);
  CHECK(one.fakes.trials->count == 0);
}

TEST_CASE_FIXTURE(fixture, "a candidate that was left out is remembered with its reason") {
  one.fakes.trials->answer = [](const std::string& library) -> trial_result {
    if (library == "4") return {trial_status::crashed, "SIGSEGV", 0, 0};
    return {trial_status::good, {}, 1000 / std::stol(library), 1};
  };
  tune(one, request_for({1, 2, 4}));
  one.fakes.trials->count = 0;
  const auto fewer = tune(one, request_for({2, 4}));
  CHECK(fewer.config_text == "TILE=2");
  CHECK(fewer.rejected.at(0).reason == "crashed: SIGSEGV");
  CHECK(one.fakes.trials->count == 0);
}

TEST_CASE_FIXTURE(fixture, "without tuning the first right candidate is taken and kept apart") {
  one.fakes.trials->answer = [](const std::string& library) -> trial_result {
    if (library == "1") return {trial_status::wrong, "output 0", 0, 0};
    return {trial_status::good, {}, 1000 / std::stol(library), 1};
  };
  const auto request = request_for({1, 2, 4});
  const auto off = with_mode(request, tune_mode::off);
  const auto made = tune(one, off);
  CHECK(made.config_text == "TILE=2");
  CHECK(made.rejected.size() == 1);
  CHECK(compiles(one) == 2);
  CHECK(one.fakes.trials->count == 2);
  CHECK(tune(one, off).status == tune_status::memory);
  CHECK(one.fakes.trials->count == 2);
  // The entry is no tuning: a request that tunes makes one, which later requests without tuning get
  // too.
  CHECK(tune(one, request).config_text == "TILE=4");
  CHECK(tune(one, off).config_text == "TILE=4");
}

TEST_CASE_FIXTURE(fixture, "without tuning known tunings are not looked up") {
  const auto request = request_for({1, 2, 4});
  auto record = autotune_record{};
  record.config.arguments = {{"TILE", 4}};
  record.configs_hash = actors::configs_hash_of(*request);
  teach(one, *request, record);
  CHECK(tune(one, with_mode(request, tune_mode::off)).config_text == "TILE=1");
  CHECK(tune(one, with_mode(request, tune_mode::cached_only)).config_text == "TILE=4");
}

TEST_CASE_FIXTURE(fixture, "cached only measures nothing, known or not") {
  const auto request = request_for({1, 2, 4});
  const auto cached = with_mode(request, tune_mode::cached_only);
  const auto unknown = tune(one, cached);
  CHECK(unknown.config_text == "TILE=1");
  CHECK(one.fakes.trials->count == 1); // the trial only checks that it is right
  CHECK(tune(one, cached).status == tune_status::memory);
  CHECK(compiles(one) == 1);
  tune(one, request);
  CHECK(tune(one, cached).config_text == "TILE=4");
}

TEST_CASE_FIXTURE(fixture,
                  "descent measures a third at most and reports how the winner was found") {
  std::vector<int> tiles;
  for (int tile = 1; tile <= 48; ++tile)
    tiles.push_back(tile);
  const auto request = with_mode(request_for(tiles), tune_mode::descent);
  std::set<std::string> tried;
  one.fakes.trials->answer = [&](const std::string& library) {
    tried.insert(library);
    return trial_result{trial_status::good, {}, 1000 + std::abs(std::stol(library) - 9) * 400, 1};
  };
  const auto made = tune(one, request);
  CHECK(made.config_text == "TILE=9");
  CHECK(tried.size() == 16);
  CHECK(compiles(one) == 16);
  CHECK(tuning_of(one, *request).config.found_by_coordesc);
  temporary_directory elsewhere;
  tuning_process two(*this, elsewhere.path());
  teach(two, *request, tuning_of(one, *request));
  CHECK(tune(two, request).config_text == "TILE=9");
  CHECK(compiles(two) == 1);
  CHECK(two.fakes.trials->count == 0);
}

TEST_CASE_FIXTURE(fixture, "descent from candidates that fail finds a good one") {
  one.fakes.trials->answer = [](const std::string& library) -> trial_result {
    if (std::stol(library) < 6) return {trial_status::crashed, "SIGSEGV", 0, 0};
    return {trial_status::good, {}, 1000 / std::stol(library), 1};
  };
  const auto made = tune(one, with_mode(request_for({1, 2, 3, 4, 5, 6, 7}), tune_mode::descent));
  CHECK(made.status == tune_status::compiled);
  CHECK(made.config_text == "TILE=7");
}

TEST_CASE_FIXTURE(fixture, "close candidates are measured again in turn") {
  std::vector<std::string> order;
  one.fakes.trials->answer = [&](const std::string& library) {
    order.push_back(library);
    return trial_result{trial_status::good, {}, library == "3" ? 400 : 100, 1};
  };
  CHECK(tune(one, request_for({1, 2, 3})).config_text == "TILE=1");
  CHECK(order == std::vector<std::string>{"1", "2", "3", "1", "2", "1", "2", "1", "2", "1", "2"});
}

TEST_CASE_FIXTURE(fixture, "an entry that hits is noted for the session with its tuning") {
  const auto request = request_for({1, 2});
  tune(one, request);
  const auto session = begin(one);
  auto noted = std::make_shared<tune_request>(*request);
  noted->notes.bundle = session.id;
  CHECK(tune(one, noted).status == tune_status::memory);
  const auto end = ask<bundle_end>(one.bundler, verb::finish_v, session.id);
  CHECK(end->entries == 1);
  CHECK(end->stored);
}

TEST_CASE_FIXTURE(fixture, "an entry that came without its tuning is noted all the same") {
  const auto request = request_for({1, 2});
  tune(one, request);
  REQUIRE(ask<bool>(one.local.shard, verb::erase_v, request->address.local));
  const auto session = begin(one);
  auto noted = std::make_shared<tune_request>(*request);
  noted->notes.bundle = session.id;
  CHECK(tune(one, noted).status == tune_status::memory);
  CHECK(ask<bundle_end>(one.bundler, verb::finish_v, session.id)->entries == 1);
  CHECK(tuning_of(one, *request).config.arguments == value::map{{"TILE", 2}});
}

TEST_CASE_FIXTURE(fixture, "two plans that share a kernel tune it once, and each bundle has it") {
  tuning_process two(*this, directory.path());
  const auto here = begin(one), there = begin(two);
  const auto noted_for = [](std::uint64_t session) {
    auto request = std::make_shared<tune_request>(*request_for({1, 2}));
    request->notes.bundle = session;
    return request;
  };
  auto a =
      self->request(one.tuner, caf::infinite, verb::tune_v, tune_request_ptr(noted_for(here.id)));
  auto b =
      self->request(two.tuner, caf::infinite, verb::tune_v, tune_request_ptr(noted_for(there.id)));
  run_until_idle();
  const auto check = [](const tune_reply& reply) { CHECK(reply.config_text == "TILE=2"); };
  const auto failed = [](const caf::error& why) { FAIL(from_caf(why).text()); };
  a.receive(check, failed);
  b.receive(check, failed);
  CHECK(one.fakes.trials->count + two.fakes.trials->count == 2);
  CHECK(compiles(one) + compiles(two) == 2);
  CHECK(ask<bundle_end>(one.bundler, verb::finish_v, here.id)->entries == 1);
  CHECK(ask<bundle_end>(two.bundler, verb::finish_v, there.id)->entries == 1);
}

} // namespace tuner_knowledge_test
