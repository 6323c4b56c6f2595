#include "runtime/script/parser.hpp"

#include "runtime/script/line_reader.hpp"
#include "runtime/script/remote_options.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

namespace hearth::script {
namespace {

using simulation::message_form;

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

const std::map<std::string, int, std::less<>>& error_numbers() {
  static const std::map<std::string, int, std::less<>> numbers{
      {"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EROFS", EROFS},   {"EACCES", EACCES},
      {"EPERM", EPERM},   {"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"EDQUOT", EDQUOT},
      {"ENOMEM", ENOMEM}, {"ENOLCK", ENOLCK}, {"EINTR", EINTR},   {"ENOENT", ENOENT}};
  return numbers;
}

bool is_reserved(std::string_view name) {
  static const std::set<std::string, std::less<>> words{
      "host",   "process", "client", "cache",    "deliver", "settle", "advance", "run",
      "stall",  "crash",   "start",  "stop",     "power",   "flush",  "disk",    "damage",
      "flip",   "cut",     "remove", "compiler", "trial",   "order",  "limit",   "maybe",
      "expect", "forget",  "trace",  "no",       "log",     "remote", "all",     "one",
      "end",    "figures", "asks",   "calls",    "tells"};
  return words.contains(name);
}

class parser {
public:
  explicit parser(const std::string& file)
      : file_(file) {}

  program parse(std::string_view text) {
    program made{file_, {}};
    while (next_line(text))
      if (auto what = parse_line()) made.statements.push_back(std::move(*what));
    return made;
  }

private:
  // --- lines

  // Takes a line off `text`, without its comment.
  bool next_line(std::string_view& text) {
    if (text.empty()) return false;
    const auto end = text.find('\n');
    line_ = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number_;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    remaining_ = &text;
    line_ = without_comment(line_);
    return true;
  }

  // A comment is a # with a space, or nothing, on both sides of it.
  static std::string_view without_comment(std::string_view line) {
    bool in_text = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] == '"' && (at == 0 || line[at - 1] != '\\')) in_text = !in_text;
      if (in_text) continue;
      const bool before = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t';
      const bool after = at + 1 == line.size() || line[at + 1] == ' ';
      if (line[at] == '#' && before && after) return line.substr(0, at);
    }
    return line;
  }

  line_reader reader() const { return {file_ + ":" + std::to_string(number_), line_}; }

  std::optional<statement> parse_line() {
    auto in = reader();
    if (in.at_end()) return std::nullopt;
    statement made;
    made.line = number_;
    made.source = std::string(line_.substr(in.column() - 1));
    made.source.resize(made.source.find_last_not_of(" \t") + 1);
    made.what = parse_statement(in).what;
    in.expect_end();
    return made;
  }

  statement parse_statement(line_reader& in) {
    statement made;
    made.line = number_;
    const auto column = in.column();
    const auto word = in.take_word("a statement");
    using parse_function = void (parser::*)(line_reader&, statement&);
    static const std::map<std::string, parse_function, std::less<>> verbs{
        {"host", &parser::parse_host},         {"remote", &parser::parse_remote},
        {"process", &parser::parse_process},   {"client", &parser::parse_client},
        {"cache", &parser::parse_cache},       {"deliver", &parser::parse_deliver},
        {"settle", &parser::parse_settle},     {"advance", &parser::parse_advance},
        {"run", &parser::parse_run},           {"stall", &parser::parse_stall},
        {"crash", &parser::parse_crash},       {"start", &parser::parse_start},
        {"stop", &parser::parse_stop},         {"power", &parser::parse_power},
        {"flush", &parser::parse_flush},       {"disk", &parser::parse_disk},
        {"damage", &parser::parse_damage},     {"flip", &parser::parse_flip},
        {"cut", &parser::parse_cut},           {"remove", &parser::parse_remove},
        {"compiler", &parser::parse_compiler}, {"trial", &parser::parse_trial},
        {"order", &parser::parse_order},       {"limit", &parser::parse_limit},
        {"maybe", &parser::parse_maybe},       {"expect", &parser::parse_expect},
        {"forget", &parser::parse_forget}};
    if (const auto verb = verbs.find(word); verb != verbs.end())
      (this->*verb->second)(in, made);
    else if (clients_.contains(word))
      parse_message(in, word, made);
    else
      in.fail_at(column, "expected a statement or the name of a client, got '" + word + "'");
    return made;
  }

  // --- names

  std::string new_name(line_reader& in, std::string_view what) {
    const auto column = in.column();
    auto name = in.take_name(what);
    if (is_reserved(name) || hosts_.contains(name) || processes_.contains(name) ||
        clients_.contains(name) || labels_.contains(name) || remotes_.contains(name))
      in.fail_at(column, "expected a name that is not taken, got '" + name + "'");
    return name;
  }

  template <class Names>
  std::string known_name(line_reader& in, const Names& names, std::string_view what) {
    const auto column = in.column();
    auto name = in.take_name(what);
    if (!names.contains(name))
      in.fail_at(column, "expected " + std::string(what) + ", got '" + name + "'");
    return name;
  }

  std::string host_name(line_reader& in) { return known_name(in, hosts_, "the name of a host"); }
  std::string process_name(line_reader& in) {
    return known_name(in, processes_, "the name of a process");
  }

  // PROCESS.PART or PROCESS.PART[INDEX]
  place take_place(line_reader& in, std::string_view what) {
    const auto column = in.column();
    const auto word = in.take_word(what);
    const auto dot = word.find('.');
    if (dot == std::string::npos)
      in.fail_at(column, "expected " + std::string(what) + ", got '" + word + "'");
    place made{word.substr(0, dot), word.substr(dot + 1), std::nullopt};
    if (!processes_.contains(made.owner) && !hosts_.contains(made.owner) &&
        !remotes_.contains(made.owner))
      in.fail_at(column, "expected the name of a process before the dot, got '" + made.owner + "'");
    const auto bracket = made.part.find('[');
    if (bracket == std::string::npos) return made;
    const auto digits = made.part.substr(bracket + 1, made.part.size() - bracket - 2);
    const bool is_number = !digits.empty() && digits.size() < 4 && made.part.ends_with(']') &&
                           digits.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number)
      in.fail_at(column + dot + 1, "expected a number in brackets, got '" + word + "'");
    made.index = std::stoul(digits);
    made.part.resize(bracket);
    return made;
  }

  place take_actor(line_reader& in, actor_kind& kind) {
    const auto column = in.column();
    auto made = take_place(in, "an actor, as a.memory or a.disk[0]");
    const auto known = simulation::actor_kind_named(made.part);
    if (!known)
      in.fail_at(column, "expected a kind of actor after the dot, got '" + made.part + "'");
    kind = *known;
    return made;
  }

  // CACHE/KEY, CACHE@VERSION/KEY; the key a word, "text", #number or (part,part)
  key_name take_key(line_reader& in) {
    constexpr std::string_view what = "a key, as fxgraph/matmul or tunes@2/\"a b\"";
    const auto column = in.column();
    auto word = in.take_word(what);
    const auto slash = word.find('/');
    if (slash == std::string::npos || slash == 0)
      in.fail_at(column, "expected " + std::string(what) + ", got '" + word + "'");
    key_name made;
    made.cache = word.substr(0, slash);
    if (const auto at = made.cache.find('@'); at != std::string::npos) {
      made.version = made.cache.substr(at + 1);
      made.cache.resize(at);
    }
    if (!cache_id::make(made.cache, made.version))
      in.fail_at(column, "expected the name of a cache, got '" + made.cache + "'");
    const auto text = word.substr(slash + 1);
    if (text.empty() && in.at_string()) {
      made.k = key(in.take_string(what));
    } else if (text.starts_with('#')) {
      line_reader digits(file_ + ":" + std::to_string(number_), std::string_view(text).substr(1));
      made.k = key::integer(digits.take_integer("a number after #"));
    } else if (text.empty()) {
      in.fail(what);
    } else {
      made.k = key(text);
    }
    return made;
  }

  time_range take_time(line_reader& in) {
    const auto column = in.column();
    const auto word = in.take_word("a time, as 5ms or 1ms..5ms");
    const auto dots = word.find("..");
    const auto least = duration_of(word.substr(0, dots));
    const auto most = dots == std::string::npos ? least : duration_of(word.substr(dots + 2));
    if (!least || !most || *most < *least)
      in.fail_at(column, "expected a time, as 5ms or 1ms..5ms, got '" + word + "'");
    return {*least, *most};
  }

  // --- what there is

  void parse_host(line_reader& in, statement& out) {
    auto name = new_name(in, "a name for the host");
    hosts_.insert(name);
    out.what = add_host{std::move(name)};
  }

  void parse_process(line_reader& in, statement& out) {
    add_process made;
    made.name = new_name(in, "a name for the process");
    made.host = "host";
    if (in.accept("on")) made.host = host_name(in);
    while (!in.at_end())
      parse_option(in, made.options);
    processes_.insert(made.name);
    hosts_.insert(made.host);
    out.what = std::move(made);
  }

  void parse_option(line_reader& in, simulation::process_options& options) {
    const auto column = in.column();
    const auto word = in.take_word("an option, as memory=1MiB");
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto text = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto number = size_of(text);
    const auto small = number && *number > 0 && *number <= 64 ? static_cast<unsigned>(*number) : 0;
    if (name == "disk" && text == "none")
      options.disk = false;
    else if (name == "memory" && number)
      options.memory_bytes = *number;
    else if (name == "disk" && number)
      options.disk_bytes = *number;
    else if (name == "segment" && number)
      options.segment_bytes = *number;
    else if (name == "memory_shards" && small)
      options.memory_shards = small;
    else if (name == "disk_shards" && small)
      options.disk_shards = small;
    else if (name == "workers" && small)
      options.workers = small;
    else if (name == "remote" && remotes_.contains(text))
      options.remote.server = text;
    else if (!set_remote_option(name, text, options.remote))
      in.fail_at(column, "expected memory=SIZE, disk=SIZE, disk=none, segment=SIZE, "
                         "memory_shards=N, disk_shards=N, workers=N (1 to 64), remote=NAME, "
                         "remote_mode=read_only, remote_mode=write_only, remote_queue=N, "
                         "remote_value=SIZE, lease=TIME, lifetime=TIME or signing=ID, got '" +
                             word + "'");
  }

  void parse_client(line_reader& in, statement& out) {
    add_client made;
    made.name = new_name(in, "a name for the client");
    in.expect_word("in");
    made.process = process_name(in);
    clients_.insert(made.name);
    out.what = std::move(made);
  }

  void parse_cache(line_reader& in, statement& out) {
    const auto column = in.column();
    auto name = in.take_word("the name of a cache");
    use_cache made;
    const auto at = name.find('@');
    made.version = at == std::string::npos ? "0" : name.substr(at + 1);
    made.name = name.substr(0, at);
    if (!cache_id::make(made.name, made.version))
      in.fail_at(column, "expected the name of a cache, got '" + name + "'");
    while (!in.at_end()) {
      if (in.accept("memory=no"))
        made.use.memory = false;
      else if (in.accept("disk=no"))
        made.use.disk = false;
      else if (in.accept("remote=no"))
        made.use.remote = false;
      else if (in.accept("sign=yes"))
        made.use.sign = true;
      else
        in.fail("memory=no, disk=no, remote=no or sign=yes");
    }
    out.what = std::move(made);
  }

  // --- messages

  void parse_message(line_reader& in, const std::string& client, statement& out) {
    send_message made;
    made.client = client;
    const auto form = take_form(in);
    actor_kind kind{};
    made.to = take_actor(in, kind);
    const auto verb_column = in.column();
    const auto verb = in.take_word("a message");
    made.row = simulation::find_message(kind, verb, form);
    if (!made.row) {
      const auto problem = "expected one of: " + usages(kind, form) + "; got '" + verb + "'";
      in.fail_at(verb_column, problem);
    }
    for (const auto p : made.row->parameters)
      made.arguments.push_back(take_argument(in, p));
    made.label = client;
    if (in.accept("as")) {
      const auto column = in.column();
      made.label = in.take_name("a name for the answer");
      if (is_reserved(made.label) || clients_.contains(made.label) || hosts_.contains(made.label) ||
          processes_.contains(made.label))
        in.fail_at(column, "expected a name that is not taken, got '" + made.label + "'");
    }
    labels_.insert(made.label);
    out.what = std::move(made);
  }

  message_form take_form(line_reader& in) {
    if (in.accept("asks")) return message_form::asks;
    if (in.accept("calls")) return message_form::calls;
    if (in.accept("tells")) return message_form::tells;
    in.fail("asks, calls or tells");
  }

  static std::string usages(actor_kind kind, message_form form) {
    std::string text;
    for (const auto& row : simulation::message_table())
      if (row.receiver == kind && row.form == form) text += (text.empty() ? "" : ", ") + row.verb;
    return text.empty() ? "(this actor has no such messages)" : text;
  }

  spoken_argument take_argument(line_reader& in, parameter p) {
    using simulation::argument;
    const auto what = std::string(simulation::syntax_of(p));
    switch (p) {
    case parameter::key: return take_key(in);
    case parameter::value: return argument(take_value(in));
    case parameter::number: return take_number_argument(in);
    case parameter::text: return argument(in.take_string(what));
    case parameter::failure: return argument(take_error(in));
    case parameter::action:
      return argument(simulation::simulated_compiler::action(in.take_string(what)));
    case parameter::trial: return argument(take_trial_request(in));
    case parameter::duration:
      return argument(
          std::chrono::duration_cast<std::chrono::milliseconds>(in.take_duration(what)));
    case parameter::sizes: return argument(take_sizes(in));
    case parameter::record: return argument(take_record(in));
    case parameter::tuning: return take_tuning(in);
    case parameter::priority: return argument(static_cast<int>(in.take_integer(what)));
    case parameter::id: return argument(in.take_integer(what));
    case parameter::tuning_place: return take_tuning_place(in);
    case parameter::choices: return argument(take_choices(in));
    case parameter::notes: return take_notes(in);
    case parameter::cache: return take_cache(in);
    }
    in.fail(what);
  }

  // "bytes", or size:20KiB: so many bytes that are made up
  artifact take_value(line_reader& in) {
    if (in.at_string()) return artifact::make(in.take_string("a value"));
    const auto column = in.column();
    const auto word = in.take_word("a value, as \"bytes\" or size:20KiB");
    const auto size = word.starts_with("size:") ? size_of(word.substr(5)) : std::nullopt;
    if (!size || *size > (64u << 20))
      in.fail_at(column, "expected a value, as \"bytes\" or size:20KiB (at most 64MiB), got '" +
                             word + "'");
    std::string bytes(*size, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>('a' + i * i % 251 % 26);
    return artifact::make(bytes);
  }

  spoken_argument take_number_argument(line_reader& in) {
    if (in.accept("present")) return epoch_number{false};
    if (in.accept("stale")) return epoch_number{true};
    const auto word = in.peek_word();
    const auto dot = word.rfind('.');
    const auto part = dot == std::string_view::npos ? "" : word.substr(dot);
    if (part != ".lease" && part != ".session")
      return simulation::argument(in.take_number("a number, or ANSWER.lease, or ANSWER.session"));
    const auto name = std::string(word.substr(0, dot));
    if (!labels_.contains(name)) in.fail("the name of an answer before " + std::string(part));
    in.take_word("");
    return answer_number{name};
  }

  // notes ANSWER: of the session that this answer brought
  answer_notes take_noted_answer(line_reader& in) {
    return {known_name(in, labels_, "the name of an answer")};
  }

  spoken_argument take_notes(line_reader& in) {
    if (in.accept("notes")) return take_noted_answer(in);
    return simulation::argument(tuning_notes{});
  }

  tuning_place take_tuning_place(line_reader& in) {
    tuning_place made{take_key(in), std::nullopt};
    if (in.accept("remote")) made.remote = take_key(in);
    return made;
  }

  static cache_name take_cache(line_reader& in) { return {in.take_name("the name of a cache")}; }

  static error take_error(line_reader& in) {
    const auto column = in.column();
    const auto word = in.take_word("an error's name, as compile_failed");
    for (unsigned code = 1; code <= static_cast<unsigned>(errc::internal); ++code)
      if (to_string(static_cast<errc>(code)) == word)
        return {static_cast<errc>(code), in.take_string("the error's text")};
    in.fail_at(column, "expected an error's name, as compile_failed, got '" + word + "'");
  }

  static trial_request take_trial_request(line_reader& in) {
    trial_request request;
    request.entry = in.take_name("the name of the entry");
    return request;
  }

  static bool at_assignment(line_reader& in) {
    const auto word = in.peek_word();
    return word.find('=') != std::string_view::npos;
  }

  static std::pair<std::string, std::int64_t> take_assignment(line_reader& in) {
    const auto column = in.column();
    const auto word = in.take_word("NAME=NUMBER");
    const auto equals = word.find('=');
    std::int64_t number = 0;
    const auto digits = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto* end = digits.data() + digits.size();
    char* stopped = nullptr;
    if (!digits.empty()) number = std::strtoll(digits.c_str(), &stopped, 10);
    if (digits.empty() || equals == 0 || stopped != end)
      in.fail_at(column, "expected NAME=NUMBER, got '" + word + "'");
    return {word.substr(0, equals), number};
  }

  static hints take_sizes(line_reader& in) {
    hints values;
    while (at_assignment(in))
      values.insert(take_assignment(in));
    return values;
  }

  static autotune_record take_record(line_reader& in) {
    autotune_record record;
    while (at_assignment(in)) {
      const auto word = in.peek_word();
      if (word.starts_with("hash=")) {
        record.configs_hash = word.substr(5);
        in.take_word("");
        continue;
      }
      const auto [name, number] = take_assignment(in);
      if (name == "time")
        record.time_taken_ns = number;
      else if (name == "descent")
        record.config.found_by_coordesc = number != 0;
      else
        record.config.arguments[name] = value(number);
    }
    return record;
  }

  // hash=abc [descent] TILE=16 TILE=32: candidates of one parameter each
  static autotune_choices take_choices(line_reader& in) {
    autotune_choices choices;
    const auto column = in.column();
    const auto word = in.take_word("hash=TEXT");
    if (!word.starts_with("hash=")) in.fail_at(column, "expected hash=TEXT, got '" + word + "'");
    choices.configs_hash = word.substr(5);
    choices.coordinate_descent = in.accept("descent");
    while (at_assignment(in)) {
      const auto [name, number] = take_assignment(in);
      choices.configs.push_back({.arguments = {{name, value(number)}}});
    }
    return choices;
  }

  static tune_mode take_mode(line_reader& in) {
    for (const auto mode :
         {tune_mode::full, tune_mode::descent, tune_mode::cached_only, tune_mode::off})
      if (in.accept(to_string(mode))) return mode;
    in.fail("full, descent, cached-only or off");
  }

  tuning take_tuning(line_reader& in) {
    tuning made;
    made.key = take_key(in);
    if (in.accept("mode")) made.mode = take_mode(in);
    if (in.accept("notes")) made.notes = take_noted_answer(in);
    if (in.accept("guard")) made.guard = in.take_string("the guard");
    if (in.accept("sizes")) made.sizes = take_sizes(in);
    in.expect_word("configs");
    while (at_assignment(in))
      made.configs.push_back(in.take_word(""));
    if (made.configs.empty()) in.fail("a configuration, as TILE=16");
    return made;
  }

  // --- steps

  void parse_deliver(line_reader& in, statement& out) {
    deliver made{no_limit, std::nullopt, {}};
    if (in.accept("until")) {
      made.until = known_name(in, labels_, "the name of an answer");
    } else if (!in.accept("all")) {
      made.count = in.accept("one") ? 1 : in.take_number("one, all, until, or a number");
    }
    if (in.accept("to")) {
      actor_kind kind{};
      const auto word = in.peek_word();
      if (clients_.contains(std::string(word)))
        made.to = place{in.take_word(""), "", std::nullopt};
      else
        made.to = take_actor(in, kind);
    }
    out.what = std::move(made);
  }

  void parse_settle(line_reader& in, statement& out) {
    settle made{std::chrono::seconds(60)};
    if (in.accept("within")) made.within = in.take_duration("a time, as 5s");
    out.what = made;
  }

  void parse_advance(line_reader& in, statement& out) {
    out.what = pass_time{take_time(in), false};
  }
  void parse_run(line_reader& in, statement& out) { out.what = pass_time{take_time(in), true}; }

  void parse_stall(line_reader& in, statement& out) {
    actor_kind kind{};
    auto who = take_actor(in, kind);
    out.what = stall{std::move(who), take_time(in)};
  }

  void parse_order(line_reader& in, statement& out) {
    const bool open = in.accept("open");
    if (!open && !in.accept("fixed")) in.fail("open or fixed");
    out.what = set_order{open};
  }

  void parse_limit(line_reader& in, statement& out) {
    set_limit made{};
    if (in.accept("steps"))
      made.steps = in.take_number("a number of messages");
    else if (in.accept("time"))
      made.time = in.take_duration("a time");
    else
      in.fail("steps or time");
    out.what = made;
  }

  void parse_forget(line_reader& in, statement& out) {
    in.expect_word("trace");
    out.what = forget_trace{};
  }

  void parse_maybe(line_reader& in, statement& out) {
    const auto column = in.column();
    auto inner = std::make_shared<statement>(parse_statement(in));
    const bool adds = std::holds_alternative<add_host>(inner->what) ||
                      std::holds_alternative<add_remote>(inner->what) ||
                      std::holds_alternative<add_process>(inner->what) ||
                      std::holds_alternative<add_client>(inner->what) ||
                      std::holds_alternative<expect_trace>(inner->what);
    if (adds) in.fail_at(column, "expected something that may also not happen after maybe");
    inner->source = std::string(line_);
    out.what = maybe{std::move(inner)};
  }

  // --- faults

  void parse_crash(line_reader& in, statement& out) {
    befall made{fate::crash, {}, std::nullopt};
    const auto word = in.peek_word();
    const auto name = std::string(word);
    if (word.find('.') != std::string_view::npos) {
      actor_kind kind{};
      made.actor = take_actor(in, kind);
      if (!made.actor->index) made.actor->index = 0;
    } else if (hosts_.contains(name) || processes_.contains(name) || clients_.contains(name)) {
      made.name = in.take_word("");
    } else {
      in.fail("the name of a host, process, client or actor");
    }
    out.what = std::move(made);
  }

  void parse_start(line_reader& in, statement& out) {
    out.what = befall{fate::start, process_name(in), std::nullopt};
  }
  void parse_stop(line_reader& in, statement& out) {
    out.what = befall{fate::stop, process_name(in), std::nullopt};
  }
  void parse_flush(line_reader& in, statement& out) {
    out.what = befall{fate::flush, process_name(in), std::nullopt};
  }
  void parse_power(line_reader& in, statement& out) {
    in.expect_word("loss");
    out.what = befall{fate::lose_power, host_name(in), std::nullopt};
  }

  void parse_disk(line_reader& in, statement& out) {
    trouble_disk made{};
    const auto name = std::string(in.peek_word());
    if (hosts_.contains(name)) {
      made.name = in.take_word("");
      if (in.accept("lies"))
        made.what = disk_trouble::lies;
      else if (in.accept("is"))
        in.expect_word("honest"), made.what = disk_trouble::is_honest;
      else
        in.fail("lies or is honest");
      out.what = std::move(made);
      return;
    }
    made.name = process_name(in);
    if (in.accept("heals")) {
      made.what = disk_trouble::heals;
    } else if (in.accept("fills")) {
      made.what = disk_trouble::fills;
    } else if (in.accept("writes")) {
      in.expect_word("short");
      made.what = disk_trouble::short_writes;
      made.count = in.take_number("a number of bytes");
    } else if (in.accept("loses")) {
      made.what = disk_trouble::loses_writes;
      made.count = in.take_number("a number of writes");
    } else if (in.accept("fails")) {
      parse_disk_fault(in, made);
    } else {
      in.fail("fails, fills, heals, writes short or loses");
    }
    out.what = std::move(made);
  }

  static void parse_disk_fault(line_reader& in, trouble_disk& made) {
    made.what = disk_trouble::fails;
    const auto call = simulation::disk_call_named(in.peek_word());
    if (!call) in.fail("open, read, write, allocate, sync, map, rename, remove or lock");
    made.call = *call;
    in.take_word("");
    const auto number = error_numbers().find(in.peek_word());
    if (number == error_numbers().end()) in.fail("an errno, as ENOSPC or EIO");
    made.fault.error = number->second;
    in.take_word("");
    if (in.accept("after")) made.fault.after = in.take_number("a number of calls");
    if (in.accept("times")) made.fault.times = in.take_number("a number of calls");
  }

  void parse_damage(line_reader& in, statement& out) {
    harm_file made{harm::damage, host_name(in), {}, {}, 0};
    made.key = take_key(in);
    out.what = std::move(made);
  }

  void parse_file_harm(line_reader& in, statement& out, harm what, std::string_view number) {
    harm_file made{what, host_name(in), {}, {}, 0};
    made.path = in.take_string("a path below the store, as \"v1/shards/00/head\"");
    if (!number.empty()) made.at = in.take_size(number);
    out.what = std::move(made);
  }
  void parse_flip(line_reader& in, statement& out) {
    parse_file_harm(in, out, harm::flip, "the offset of a byte");
  }
  void parse_cut(line_reader& in, statement& out) {
    parse_file_harm(in, out, harm::cut, "a length in bytes");
  }
  void parse_remove(line_reader& in, statement& out) { parse_file_harm(in, out, harm::remove, ""); }

  // A new server, or what happens to one.
  void parse_remote(line_reader& in, statement& out) {
    const auto name = std::string(in.peek_word());
    if (!remotes_.contains(name)) {
      remotes_.insert(new_name(in, "a name for the remote server"));
      out.what = add_remote{name};
      return;
    }
    in.take_word("");
    if (const auto behavior = accept_behavior(in))
      out.what = behave_remote{name, *behavior};
    else
      parse_remote_change(in, name, out);
  }

  void parse_remote_change(line_reader& in, const std::string& name, statement& out) {
    change_remote made{name, remote_change::forget, {}, {}, {}, false, {}};
    if (in.accept("loses")) {
      in.expect_word("all");
      made.what = remote_change::forget_all;
    } else if (in.accept("forgets")) {
      made.key = take_key(in);
    } else if (in.accept("flips")) {
      made.what = remote_change::flip;
      made.key = take_key(in);
    } else if (in.accept("swaps")) {
      made.what = remote_change::swap;
      made.key = take_key(in);
      made.other = take_key(in);
    } else if (in.accept("lists")) {
      made.what = remote_change::list;
      made.key = take_key(in);
    } else if (in.accept("keeps")) {
      parse_kept_entry(in, made);
    } else {
      in.fail("heals, refuses, distrusts, stalls, slow, cuts, garbles, errors, loses, forgets, "
              "flips, swaps, lists or keeps");
    }
    out.what = std::move(made);
  }

  void parse_kept_entry(line_reader& in, change_remote& made) {
    made.what = remote_change::keep;
    made.is_forged = in.accept("forged");
    if (made.is_forged || in.accept("signed"))
      made.signer = in.take_name("the id of a signing key");
    else
      in.expect_word("unsigned");
    made.key = take_key(in);
    made.bytes = in.take_string("the entry's bytes");
  }

  void parse_compiler(line_reader& in, statement& out) {
    instruct_compiler made;
    made.process = process_name(in);
    simulation::compiler_rule rule;
    rule.label = in.take_string("a pattern over labels, as \"matmul*\"");
    using how = simulation::compiler_rule::outcome;
    const std::array<std::pair<std::string_view, how>, 6> outcomes{{{"makes", how::makes},
                                                                    {"fails", how::fails},
                                                                    {"crashes", how::crashes},
                                                                    {"hangs", how::hangs},
                                                                    {"forgets", how::forgets},
                                                                    {"missing", how::missing}}};
    const auto* found = std::find_if(outcomes.begin(), outcomes.end(),
                                     [&](const auto& one) { return in.accept(one.first); });
    if (found == outcomes.end()) in.fail("makes, fails, crashes, hangs, forgets or missing");
    rule.how = found->second;
    if (in.at_string()) rule.text = in.take_string("");
    if (in.accept("in"))
      rule.takes = std::chrono::duration_cast<std::chrono::milliseconds>(
          in.take_duration("a time, as 50ms"));
    made.rule = std::move(rule);
    out.what = std::move(made);
  }

  void parse_trial(line_reader& in, statement& out) {
    instruct_compiler made;
    made.process = process_name(in);
    simulation::trial_rule rule;
    rule.library = in.take_string("a pattern over shared objects, as \"object of matmul*\"");
    const std::array<std::pair<std::string_view, trial_status>, 6> outcomes{
        {{"good", trial_status::good},
         {"wrong", trial_status::wrong},
         {"crashed", trial_status::crashed},
         {"hung", trial_status::hung},
         {"unfit", trial_status::unfit},
         {"not_run", trial_status::not_run}}};
    const auto* found = std::find_if(outcomes.begin(), outcomes.end(),
                                     [&](const auto& one) { return in.accept(one.first); });
    if (found == outcomes.end()) in.fail("good, wrong, crashed, hung, unfit or not_run");
    rule.result.status = found->second;
    if (rule.result.status == trial_status::good)
      rule.result.median_ns = in.take_duration("the time of one call, as 5us").count();
    else
      rule.result.reason = in.take_string("the reason");
    made.rule = std::move(rule);
    out.what = std::move(made);
  }

  // --- expectations

  void parse_expect(line_reader& in, statement& out) {
    if (in.accept("trace")) return parse_trace_block(in, out);
    const bool forbidden = in.accept("no");
    if (forbidden && in.accept("trace")) {
      out.what = expect_trace{{in.take_rest("a pattern")}, true};
    } else if (in.accept("log")) {
      auto process = process_name(in);
      out.what = expect_log{std::move(process), in.take_rest("a pattern"), forbidden};
    } else if (forbidden) {
      in.fail("trace or log");
    } else if (in.accept("all")) {
      in.expect_word("answered");
      out.what = expect_all_answered{};
    } else if (in.peek_word().find('.') != std::string_view::npos) {
      parse_expect_figure(in, out);
    } else {
      auto label = known_name(in, labels_, "an answer, or PROCESS.ACTOR");
      out.what = expect_answer{std::move(label), in.take_rest("what is answered")};
    }
  }

  void parse_expect_figure(line_reader& in, statement& out) {
    expect_figure made;
    made.of = take_place(in, "an actor, store, log, compiler or server, as a.memory");
    if (made.of.part == "store" && in.accept("intact")) {
      out.what = expect_intact{made.of.owner};
      return;
    }
    made.figure = in.take_name("the name of a figure, as hits");
    const std::array<std::string_view, 6> relations{"=", "!=", "<", "<=", ">", ">="};
    const auto relation = in.peek_word();
    if (std::find(relations.begin(), relations.end(), relation) == relations.end())
      in.fail("=, !=, <, <=, > or >=");
    made.relation = in.take_word("");
    made.number = in.take_size("a number");
    out.what = std::move(made);
  }

  void parse_trace_block(line_reader& in, statement& out) {
    in.expect_end();
    const int begin = number_;
    expect_trace made;
    for (;;) {
      if (!next_line(*remaining_)) {
        number_ = begin;
        reader().fail_at(1, "expected 'end' after the lines of this trace, but the script ends");
      }
      auto line = reader();
      if (line.at_end()) continue;
      if (line.peek_word() == "end") break;
      made.patterns.push_back(line.take_rest("a pattern"));
    }
    out.what = std::move(made);
    in = reader();
    in.take_word("");
  }

  std::string file_;
  std::string_view line_;
  std::string_view* remaining_ = nullptr;
  int number_ = 0;
  std::set<std::string, std::less<>> hosts_{"host"};
  std::set<std::string, std::less<>> remotes_;
  std::set<std::string, std::less<>> processes_;
  std::set<std::string, std::less<>> clients_;
  std::set<std::string, std::less<>> labels_;
};

} // namespace

expected<program> parse(const std::string& file, std::string_view text) {
  try {
    return parser(file).parse(text);
  } catch (const syntax_error& problem) {
    return fail(errc::malformed, problem.text);
  }
}

} // namespace hearth::script
