// A store with a second writer beside it: a hook runs before or after each group is written.
#pragma once

#include "storage/disk/change_journal.hpp"
#include "storage/disk/store.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace hearth::test {

class meddled_store final : public storage::store {
public:
  explicit meddled_store(std::shared_ptr<storage::store> real)
      : real_(std::move(real)) {}

  std::function<void()> before_apply, after_apply; ///< each called once

  unsigned shards() const noexcept override { return real_->shards(); }
  unsigned shard_of(std::uint64_t hash) const noexcept override { return real_->shard_of(hash); }
  storage::read_result get(const storage::entry_key& key) override { return real_->get(key); }
  void touch(const storage::entry_key& key) noexcept override { real_->touch(key); }
  void note_unpersisted(unsigned shard) noexcept override { real_->note_unpersisted(shard); }
  std::uint64_t epoch(unsigned shard) const noexcept override { return real_->epoch(shard); }
  const storage::epoch_place& place_of_epoch(unsigned shard) const noexcept override {
    return real_->place_of_epoch(shard);
  }
  std::uint64_t apply(unsigned shard, std::span<storage::write_request> group) override {
    run(before_apply);
    const auto moved = real_->apply(shard, group);
    run(after_apply);
    return moved;
  }
  expected<void> flush() override { return real_->flush(); }
  expected<std::unique_ptr<storage::lease_table>> open_leases() override {
    return real_->open_leases();
  }
  expected<void> list(const std::function<bool(const storage::entry_info&)>& visit) override {
    return real_->list(visit);
  }
  expected<std::optional<storage::scan_place>>
  scan(const storage::scan_place& from,
       const std::function<bool(const storage::entry_info&)>& visit) override {
    return real_->scan(from, visit);
  }
  storage::store_stats stats() const override { return real_->stats(); }
  expected<storage::verify_report> verify(bool repair,
                                          const storage::progress_callback& progress) override {
    return real_->verify(repair, progress);
  }
  expected<std::uint64_t> evict_to(std::uint64_t bytes,
                                   const storage::progress_callback& progress) override {
    return real_->evict_to(bytes, progress);
  }
  expected<void> clear() override { return real_->clear(); }
  expected<std::unique_ptr<storage::change_journal>> open_journal(std::string_view fleet) override {
    return real_->open_journal(fleet);
  }
  std::uint64_t id() const noexcept override { return real_->id(); }
  std::string fleet_mark() const override { return real_->fleet_mark(); }
  expected<void> set_fleet_mark(std::string_view mark) override {
    return real_->set_fleet_mark(mark);
  }

private:
  static void run(std::function<void()>& hook) {
    if (const auto once = std::exchange(hook, nullptr)) once();
  }
  std::shared_ptr<storage::store> real_;
};

} // namespace hearth::test
