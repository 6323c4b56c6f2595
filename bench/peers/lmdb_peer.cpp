#include "bench/peers/entry_store.hpp"

#include <algorithm>
#include <lmdb.h>

namespace hearth::bench {
namespace {

void check(int result, const char* what) {
  if (result != 0)
    throw std::runtime_error(std::string("lmdb: ") + what + ": " + mdb_strerror(result));
}

MDB_val value_of(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())}; // NOLINT: LMDB does not write to it
}

class lmdb_peer final : public entry_store {
public:
  lmdb_peer(const std::filesystem::path& directory, const dataset& data) {
    constexpr std::size_t overhead = 8192; // for pages that are not full
    const auto size = data.size() * (data.value_bytes() + overhead) * 2 + (std::size_t{256} << 20);
    check(mdb_env_create(&environment_), "create");
    check(mdb_env_set_mapsize(environment_, size), "set the size");
    check(mdb_env_open(environment_, directory.c_str(), MDB_NOSYNC, 0600), "open");
    MDB_txn* transaction = nullptr;
    check(mdb_txn_begin(environment_, nullptr, 0, &transaction), "begin");
    check(mdb_dbi_open(transaction, nullptr, 0, &database_), "open the database");
    check(mdb_txn_commit(transaction), "commit");
  }
  ~lmdb_peer() override {
    if (reading_) mdb_txn_abort(reading_);
    mdb_env_close(environment_);
  }
  lmdb_peer(const lmdb_peer&) = delete;
  lmdb_peer& operator=(const lmdb_peer&) = delete;

  void insert_all(const dataset& data) override {
    for (std::size_t first = 0; first < data.size(); first += group_size)
      insert_group(data, first, std::min(first + group_size, data.size()));
  }
  void insert(const dataset& data, std::size_t entry) override {
    insert_group(data, entry, entry + 1);
  }

  void finish_pending_work() override {
    check(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading_), "begin reading");
  }

  artifact get(const dataset& data, std::size_t entry) override {
    mdb_txn_reset(reading_);
    check(mdb_txn_renew(reading_), "renew");
    auto key = value_of(data.key_bytes(entry));
    MDB_val value;
    if (mdb_get(reading_, database_, &key, &value) != 0) return {};
    return copied_out({static_cast<const char*>(value.mv_data), value.mv_size});
  }

private:
  // In one transaction.
  void insert_group(const dataset& data, std::size_t first, std::size_t end) {
    MDB_txn* transaction = nullptr;
    check(mdb_txn_begin(environment_, nullptr, 0, &transaction), "begin");
    for (auto i = first; i < end; ++i) {
      auto key = value_of(data.key_bytes(i));
      auto value = value_of(data.value(i).payload());
      check(mdb_put(transaction, database_, &key, &value, MDB_NOOVERWRITE), "put");
    }
    check(mdb_txn_commit(transaction), "commit");
  }

  MDB_env* environment_ = nullptr;
  MDB_dbi database_ = 0;
  MDB_txn* reading_ = nullptr;
};

} // namespace

std::unique_ptr<entry_store> make_lmdb(const std::filesystem::path& directory,
                                       const dataset& data) {
  return std::make_unique<lmdb_peer>(directory, data);
}

} // namespace hearth::bench
