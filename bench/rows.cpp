#include "bench/rows.hpp"

namespace hearth::bench {

registry all_rows() {
  registry all;
  add_memory_rows(all);
  add_memory_index_rows(all);
  add_store_rows(all);
  add_disk_rows(all);
  add_open_rows(all);
  add_binding_rows(all);
  add_process_rows(all);
  add_stampede_rows(all);
  add_guard_rows(all);
  add_key_rows(all);
  add_bundle_rows(all);
  add_start_rows(all);
  add_compile_rows(all);
  add_remote_rows(all);
  add_remote_tier_rows(all);
  add_remote_handle_rows(all);
  add_serve_rows(all);
  return all;
}

} // namespace hearth::bench
