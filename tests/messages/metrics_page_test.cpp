// Pages in Prometheus's text format: names, types and escapes, byte for byte.
#include "messages/metrics_page.hpp"

#include <doctest/doctest.h>

namespace metrics_page_test {

using namespace hearth;

TEST_CASE("a page has the help, the type and the samples of each metric") {
  metrics_page page;
  page.counter("hits_total", "Lookups that a tier answered.");
  page.sample(7, {{"tier", "memory"}});
  page.sample(0, {{"tier", "disk"}, {"shard", "1"}});
  page.gauge("entries", "Entries in memory.", 18446744073709551615u);
  CHECK(page.text() == "# HELP hearth_hits_total Lookups that a tier answered.\n"
                       "# TYPE hearth_hits_total counter\n"
                       "hearth_hits_total{tier=\"memory\"} 7\n"
                       "hearth_hits_total{tier=\"disk\",shard=\"1\"} 0\n"
                       "# HELP hearth_entries Entries in memory.\n"
                       "# TYPE hearth_entries gauge\n"
                       "hearth_entries 18446744073709551615\n");
  CHECK(page.samples() == "hearth_hits_total{tier=\"memory\"} 7\n"
                          "hearth_hits_total{tier=\"disk\",shard=\"1\"} 0\n"
                          "hearth_entries 18446744073709551615\n");
}

TEST_CASE("any text can be a label") {
  metrics_page page;
  page.gauge("x", "A gauge.");
  page.sample(1, {{"version", "a \"quoted\" \\ word\nand a line"}});
  page.sample(2, {{"version", ""}});
  CHECK(page.samples() == "hearth_x{version=\"a \\\"quoted\\\" \\\\ word\\nand a line\"} 1\n"
                          "hearth_x{version=\"\"} 2\n");
}

TEST_CASE("an empty page is a page") {
  const metrics_page page;
  CHECK(page.text().empty());
  CHECK(page.samples().empty());
}

} // namespace metrics_page_test
