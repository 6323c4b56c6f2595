#include "runtime/server/status/metrics.hpp"

#include "messages/metrics_page.hpp"
#include "runtime/server/status/latency_quantile.hpp"

#include <charconv>
#include <iterator>

namespace hearth::server {
namespace {

using named_spaces = decltype(server_counters{}.spaces());

constexpr std::string_view latency_metric = "hearth_serve_request_seconds";

std::string_view protocol_name(std::size_t index) {
  return to_string(static_cast<protocol>(index));
}
std::string_view kind_name(std::size_t index) {
  return to_string(static_cast<request_kind>(index));
}

// The shortest text that reads back as the same number.
std::string number_text(double number) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), number).ptr};
}

void write_requests(metrics_page& page, const server_counters& from) {
  page.counter("serve_requests_total", "Requests of clients.");
  for (std::size_t by = 0; by < protocol_count; ++by)
    for (std::size_t kind = 0; kind < request_kind_count; ++kind)
      for (std::size_t outcome = 0; outcome < request_outcome_count; ++outcome)
        page.sample(from.requests[by][kind][outcome],
                    {{"protocol", protocol_name(by)},
                     {"kind", kind_name(kind)},
                     {"outcome", to_string(static_cast<request_outcome>(outcome))}});
}

// Calls `write` with the name and the counts of each namespace.
template <class Write>
void for_each_space(const named_spaces& all, Write write) {
  for (const auto& [name, counts] : all)
    write(std::string_view(name), *counts);
}

void write_namespaces(metrics_page& page, const named_spaces& all) {
  page.counter("serve_namespace_lookups_total",
               "Lookups of a namespace; the trusted one is empty.");
  for_each_space(all, [&](auto name, const auto& counts) {
    page.sample(counts.hits, {{"namespace", name}, {"outcome", "hit"}});
    page.sample(counts.misses, {{"namespace", name}, {"outcome", "miss"}});
  });
  page.counter("serve_namespace_writes_total", "Entries that were stored or dropped.");
  for_each_space(all, [&](auto name, const auto& counts) {
    page.sample(counts.writes, {{"namespace", name}});
  });
  page.counter("serve_namespace_refused_total", "Requests without the right, or above a limit.");
  for_each_space(all, [&](auto name, const auto& counts) {
    page.sample(counts.refused, {{"namespace", name}});
  });
  page.counter("serve_namespace_value_bytes_total", "Bytes of the values stored and sent.");
  for_each_space(all, [&](auto name, const auto& counts) {
    page.sample(counts.bytes_in, {{"namespace", name}, {"direction", "in"}});
    page.sample(counts.bytes_out, {{"namespace", name}, {"direction", "out"}});
  });
}

void write_connections(metrics_page& page, const server_counters& from) {
  page.gauge("serve_connections_open", "Connections of clients that are open.");
  for (std::size_t by = 0; by < protocol_count; ++by)
    page.sample(from.connections[by], {{"protocol", protocol_name(by)}});
  page.counter("serve_connections_total", "Connections of clients that were accepted.");
  for (std::size_t by = 0; by < protocol_count; ++by)
    page.sample(from.connections_total[by], {{"protocol", protocol_name(by)}});
  page.counter("serve_connections_refused_total", "Connections above the limit.",
               from.connections_refused);
  page.counter("serve_protocol_errors_total", "Requests that could not be parsed.",
               from.protocol_errors);
  page.counter("serve_socket_bytes_total", "Bytes read from and written to sockets.");
  page.sample(from.bytes_in, {{"direction", "in"}});
  page.sample(from.bytes_out, {{"direction", "out"}});
  page.gauge("serve_receiving_bytes", "Bytes of large values that are being received.",
             from.receiving_bytes);
}

void write_held(metrics_page& page, const server_counters& from) {
  page.gauge("serve_held_waits", "Misses that wait for their holder.", from.held_now);
  page.counter("serve_held_misses_total", "Misses that were held.", from.held_total);
  page.counter("serve_held_ends_total", "Held misses that ended with a hit or at their deadline.");
  page.sample(from.held_hits, {{"end", "hit"}});
  page.sample(from.held_deadlines, {{"end", "deadline"}});
  page.counter("serve_held_refused_total", "Misses that were not held: too many were.",
               from.held_refused);
  page.gauge("serve_holders", "Clients that make an entry for which others may wait.",
             from.holders_now);
  page.counter("serve_holders_ended_total", "Holders that ended without an entry.",
               from.holders_ended);
}

// A metric in seconds: the page's own numbers are whole ones.
std::string saved_text(const server_counters& from) {
  const std::string name = "hearth_serve_saved_seconds_total";
  return "# HELP " + name + " What hits saved: the time that their values took to make.\n# TYPE " +
         name + " counter\n" + name + " " + number_text(static_cast<double>(from.saved_ns) / 1e9) +
         "\n";
}

void write_credentials(metrics_page& page, const server_counters& from) {
  page.counter("serve_credentials_total", "Credentials that clients gave.");
  page.sample(from.credentials_right, {{"outcome", "right"}});
  page.sample(from.credentials_wrong, {{"outcome", "wrong"}});
}

// A line of the histogram; `rest` is what its labels end with.
std::string latency_line(std::string_view suffix, const std::string& labels, std::string_view rest,
                         std::string_view number) {
  std::string line(latency_metric);
  line.append(suffix).append("{").append(labels).append(rest).append("} ");
  return line.append(number).append("\n");
}

// The lines of one protocol and kind. A bucket counts those below it too.
std::string latency_lines(const latency_buckets& buckets, std::uint64_t sum_ns,
                          const std::string& labels) {
  std::string lines;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    count += buckets[i];
    const auto bound = i < latency_bounds_s.size() ? number_text(latency_bounds_s[i]) : "+Inf";
    lines += latency_line("_bucket", labels, ",le=\"" + bound + "\"", std::to_string(count));
  }
  lines += latency_line("_sum", labels, "", number_text(static_cast<double>(sum_ns) / 1e9));
  lines += latency_line("_count", labels, "", std::to_string(count));
  return lines;
}

std::string latency_text(const server_counters& from) {
  std::string text;
  text.append("# HELP ").append(latency_metric).append(" From a request to its answer.\n");
  text.append("# TYPE ").append(latency_metric).append(" histogram\n");
  for (std::size_t by = 0; by < protocol_count; ++by)
    for (std::size_t kind = 0; kind < request_kind_count; ++kind) {
      std::string labels = "protocol=\"";
      labels.append(protocol_name(by)).append("\",kind=\"").append(kind_name(kind)).append("\"");
      text += latency_lines(read_buckets(from.latency[by][kind]), from.latency_sum_ns[by][kind],
                            labels);
    }
  return text;
}

} // namespace

std::string server_metrics(const server_counters& counters) {
  metrics_page page;
  write_requests(page, counters);
  write_namespaces(page, counters.spaces());
  write_connections(page, counters);
  write_held(page, counters);
  write_credentials(page, counters);
  page.counter("serve_timed_hits_total", "Hits whose value says how long it took to make.",
               counters.timed_hits);
  return page.text() + saved_text(counters) + latency_text(counters);
}

} // namespace hearth::server
