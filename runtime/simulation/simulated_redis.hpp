// A simulated server of the Redis protocol: names with values and lifetimes in virtual time, and
// the faults of such a server or of its network. Processes are connected to it as the runtime
// connects to a real one.
//
// One thread, that of the stepped system.
#pragma once

#include "actors/ports/remote_client.hpp"
#include "runtime/simulation/stepped_system.hpp"
#include "storage/remote/envelope.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace hearth::simulation {

/// How a server behaves towards its clients.
struct redis_behavior {
  enum class kind : std::uint8_t {
    well,
    refuses,   ///< no connection
    untrusted, ///< its certificate is wrong
    stalls,    ///< takes commands and never answers
    slow,      ///< carries commands out, and answers after `delay`
    cuts,      ///< carries commands out, and ends in the middle of the reply
    garbles,   ///< answers with bytes that are not a reply
    errors,    ///< answers with the error `text`, and carries nothing out
  };
  enum class scope : std::uint8_t { all, reads, writes, scripts };
  kind what = kind::well;
  scope of = scope::all; ///< errors: the commands that get them
  std::chrono::nanoseconds delay{};
  std::string text;
};

/// A process's way to a server or to a cluster.
class remote_connection : public actors::remote_client {
public:
  /// Ends as by a kill of the process: sent commands arrive, and no callback runs.
  virtual void die() = 0;
  /// Ends or mends the way. What was sent before arrives; nothing comes back.
  virtual void cut_off(bool is_cut) = 0;
};

/// The signing key of simulated processes with this id: its secret is derived from the id.
storage::signing_key signing_key_named(std::string_view id);

class simulated_redis {
public:
  /// A process's connection.
  class connection : public remote_connection {
  public:
    explicit connection(simulated_redis& server)
        : server_(server) {}
    void send_all(lane by, std::vector<command> commands, std::chrono::milliseconds deadline,
                  replies_callback answered) override;
    void close() override;
    void die() override;
    void cut_off(bool is_cut) override;

  private:
    friend class simulated_redis;
    simulated_redis& server_;
    bool is_closed_ = false;
    bool is_cut_off_ = false;
    std::uint64_t cut_at_ = 0;         // the last command that was sent before
    virtual_time busy_until_[lanes]{}; // replies come in order
    // Behind a command whose answer is late nothing arrives until the connection is given up.
    virtual_time stuck_until_[lanes]{};
  };

  simulated_redis(stepped_system& system, std::string name);
  simulated_redis(const simulated_redis&) = delete;
  simulated_redis& operator=(const simulated_redis&) = delete;
  /// Ends its actor; connections must be closed or dead.
  ~simulated_redis();

  std::shared_ptr<connection> connect() { return std::make_shared<connection>(*this); }
  void behave(redis_behavior behavior);
  /// Whether answers are on their way. A server that was slow still is with what it took before.
  bool owes_answers() const;
  /// Asked before a command is carried out; a reply is the answer instead.
  using gate =
      std::function<std::optional<actors::remote_reply>(const actors::remote_client::command&)>;
  void ask_first(gate what) { gate_ = std::move(what); }
  /// Commands that wait for news ask the gate again: what it says has changed.
  void look_again() { wake_waiting(); }
  /// A reply that is this error of the server.
  static actors::remote_reply error_reply(const std::string& text);

  // --- contents
  /// Stores bytes under a name, as a client outside of the simulation would.
  void store(const std::string& name, std::string bytes) { values_[name] = {std::move(bytes), {}}; }
  /// The bytes under a name, or null. The caller may change the server's bytes through the pointer.
  std::string* find(const std::string& name);
  /// The bytes under a name, or those of its fields; the caller may change them. None: no such
  /// name.
  std::vector<std::string*> bytes_of(const std::string& name);
  /// The names of all entries, leases included, in order.
  std::vector<std::string> names();
  void forget(const std::string& name) { values_.erase(name); }
  void forget_all() {
    values_.clear();
    streams_.clear();
  }
  /// Keeps what it has, as a server does that writes its data to a disk now and then.
  void save() { saved_ = {values_, streams_}; }
  /// Starts with what it kept last.
  void restore() { std::tie(values_, streams_) = saved_; }
  /// Has from now on what `other` has, or what `other` kept last, and `other` has nothing.
  void take_over(simulated_redis& other, bool what_it_kept);
  /// Has from now on what `other` kept last; `other` keeps what it has.
  void take_saved(const simulated_redis& other) { std::tie(values_, streams_) = other.saved_; }
  /// Takes all names from `other` for which `which` holds.
  void take_names(simulated_redis& other, const std::function<bool(const std::string&)>& which);
  /// Replaces the entry of that name by a list.
  void make_list(const std::string& name) { values_[name] = {{}, {}, true}; }

  /// "entries" (without the marks of removed ones), "leases", "commands", "gets", "sets", "pings",
  /// "purges" (that were logged), "field_reads", "members" (the fields of all hashes)
  std::optional<std::uint64_t> figure(std::string_view name);

private:
  struct value {
    std::string bytes;
    std::optional<virtual_time> ends;
    bool is_list = false;
    std::map<std::string, std::string> fields{}; ///< of a hash; a hash has one at least
    bool is_string() const { return !is_list && fields.empty(); }
  };
  /// An entry of a stream: its two numbers, and its fields.
  struct stream_entry {
    std::uint64_t time, number;
    std::vector<std::string> fields;
    std::string id() const { return std::to_string(time) + "-" + std::to_string(number); }
  };
  struct pending {
    connection* by; // null: the connection is closed
    actors::remote_client::lane lane;
    actors::remote_client::command arguments;
    virtual_time deadline;
    actors::remote_client::reply_callback answered;
    std::optional<actors::remote_reply> reply; // set once the command was carried out
  };

  void accept(connection& from, pending command);
  void arrive(std::uint64_t number);
  void deliver(std::uint64_t number);
  void drop_waiting(const connection& whose);
  void fail_lane(connection* by, actors::remote_client::lane lane);
  void forget(const connection& whose, bool tell);
  actors::remote_reply carry_out(const actors::remote_client::command& arguments);
  actors::remote_reply get(const std::string& name);
  actors::remote_reply lifetime_of(const std::string& name);
  actors::remote_reply set(const actors::remote_client::command& arguments);
  actors::remote_reply get_fields(const std::string& name);
  actors::remote_reply add_fields(const actors::remote_client::command& arguments,
                                  std::size_t first, std::optional<virtual_time> ends);
  actors::remote_reply remove(const actors::remote_client::command& arguments);
  actors::remote_reply remove_fields(const actors::remote_client::command& arguments);
  actors::remote_reply append(const actors::remote_client::command& arguments);
  actors::remote_reply scan(const actors::remote_client::command& arguments);
  actors::remote_reply read_range(const actors::remote_client::command& arguments);
  bool has_news(const actors::remote_client::command& arguments);
  actors::remote_reply await(const actors::remote_client::command& arguments);
  void wake_waiting();
  actors::remote_reply run_script(const actors::remote_client::command& arguments);
  actors::remote_reply answer_to(const pending& one);

  stepped_system& system_;
  caf::actor actor_;
  redis_behavior behavior_;
  gate gate_; // null: none
  using values = std::map<std::string, value>;
  using streams = std::map<std::string, std::vector<stream_entry>>;
  values values_;
  streams streams_;
  std::pair<values, streams> saved_;
  std::map<std::uint64_t, pending> pending_;
  std::map<std::string, std::uint64_t, std::less<>> counts_; // commands carried out, by word
  std::uint64_t last_ = 0;
};

} // namespace hearth::simulation
