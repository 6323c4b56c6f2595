// The only file that includes RocksDB.
#include "bench/peers/entry_store.hpp"

#include <algorithm>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

namespace hearth::bench {
namespace {

void check(const rocksdb::Status& status, const char* what) {
  if (!status.ok())
    throw std::runtime_error(std::string("rocksdb: ") + what + ": " + status.ToString());
}

class rocksdb_peer final : public entry_store {
public:
  rocksdb_peer(const std::filesystem::path& directory, std::size_t batch)
      : batch_(batch) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(options, directory.string(), &opened), "open");
    database_.reset(opened);
  }

  void insert_all(const dataset& data) override {
    for (std::size_t first = 0; first < data.size(); first += batch_) {
      rocksdb::WriteBatch batch;
      const auto end = std::min(first + batch_, data.size());
      for (auto i = first; i < end; ++i)
        check(batch.Put(data.key_bytes(i), slice_of(data.value(i).payload())), "put");
      check(database_->Write({}, &batch), "write");
    }
  }

  void finish_pending_work() override {
    check(database_->Flush({}), "flush");
    check(database_->CompactRange({}, nullptr, nullptr), "compact");
  }

  artifact get(const dataset& data, std::size_t entry) override {
    rocksdb::PinnableSlice value;
    const auto status =
        database_->Get({}, database_->DefaultColumnFamily(), data.key_bytes(entry), &value);
    return status.ok() ? copied_out({value.data(), value.size()}) : artifact{};
  }

private:
  static rocksdb::Slice slice_of(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

  std::size_t batch_; // 1: one Put an entry
  std::unique_ptr<rocksdb::DB> database_;
};

} // namespace

std::unique_ptr<entry_store> make_rocksdb(const std::filesystem::path& directory, const dataset&) {
  return std::make_unique<rocksdb_peer>(directory, 1);
}

std::unique_ptr<entry_store> make_rocksdb_batch(const std::filesystem::path& directory,
                                                const dataset&) {
  return std::make_unique<rocksdb_peer>(directory, group_size);
}

} // namespace hearth::bench
