// bundle.*: a bundle of 1,000 artifacts of 100 kB, exported and imported, beside `zstd -1` on the
// same bytes.
#include "bench/frame/timing.hpp"
#include "bench/rows.hpp"

#include "hearth/bundle.hpp"
#include "hearth/hearth.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <zstd.h>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t artifact_bytes = 100'000;

template <class T>
T checked(expected<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}

// Bytes that zstd compresses to about half, as it does object code: random words mixed with words
// of a small vocabulary.
std::string object_code(std::mt19937_64& random) {
  std::array<std::uint64_t, 256> words{};
  for (auto& word : words)
    word = random();
  std::string bytes(artifact_bytes, '\0');
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size();
       at += sizeof(std::uint64_t)) {
    const auto dice = random();
    const auto word = dice % 5 < 3 ? words[(dice >> 8) % words.size()] : random();
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  return bytes;
}

class open_file {
public:
  open_file(const fs::path& path, const char* mode)
      : file_(std::fopen(path.c_str(), mode)) {
    if (!file_) throw std::runtime_error("cannot open " + path.string());
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() { std::fclose(file_); }

  std::size_t read(std::string& into) { return std::fread(into.data(), 1, into.size(), file_); }
  void write(const std::string& from, std::size_t bytes) {
    if (std::fwrite(from.data(), 1, bytes, file_) != bytes)
      throw std::runtime_error("cannot write");
  }

private:
  std::FILE* file_;
};

// `zstd -1 FROM -o TO`, in this process.
void compress(const fs::path& from, const fs::path& to) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  open_file source(from, "rb");
  open_file target(to, "wb");
  std::string in(ZSTD_CStreamInSize(), '\0');
  std::string out(ZSTD_CStreamOutSize(), '\0');
  for (bool is_last = false; !is_last;) {
    ZSTD_inBuffer input{in.data(), source.read(in), 0};
    is_last = input.size < in.size();
    for (std::size_t left = 1; is_last ? left > 0 : input.pos < input.size;) {
      ZSTD_outBuffer output{out.data(), out.size(), 0};
      left = ZSTD_compressStream2(context.get(), &output, &input,
                                  is_last ? ZSTD_e_end : ZSTD_e_continue);
      target.write(out, output.pos);
    }
  }
}

// `zstd -d FROM -o TO`, in this process.
void decompress(const fs::path& from, const fs::path& to) {
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                        ZSTD_freeDCtx);
  open_file source(from, "rb");
  open_file target(to, "wb");
  std::string in(ZSTD_DStreamInSize(), '\0');
  std::string out(ZSTD_DStreamOutSize(), '\0');
  while (const auto count = source.read(in)) {
    ZSTD_inBuffer input{in.data(), count, 0};
    while (input.pos < input.size) {
      ZSTD_outBuffer output{out.data(), out.size(), 0};
      if (ZSTD_isError(ZSTD_decompressStream(context.get(), &output, &input)))
        throw std::runtime_error("zstd cannot read what it wrote");
      target.write(out, output.pos);
    }
  }
}

config settings_of(const fs::path& store) {
  config settings;
  settings.store = store;
  settings.disk_budget_bytes = std::uint64_t{2} << 30;
  settings.memory_budget_bytes = 1u << 20;
  settings.jobs = 1;
  return settings;
}

// The same artifacts as a store, as one file of their payloads, as a bundle, and compressed by
// zstd.
struct carried {
  carried(row_run& run, const fs::path& directory)
      : folder(directory)
      , artifacts(run.scaled(1000, 20)) {
    std::mt19937_64 random(7);
    open_file raw(payloads, "wb");
    const auto entries = checked(store.open("bench", cache_options().without_memory()));
    for (std::size_t i = 0; i < artifacts; ++i) {
      const auto bytes = object_code(random);
      raw.write(bytes, bytes.size());
      checked(entries.insert(key::integer(static_cast<std::int64_t>(i)), artifact::make(bytes)));
    }
  }
  ~carried() {
    store.shutdown();
    std::error_code ignored;
    for (const auto& one : {folder / "store", payloads, bundle, packed, folder / "other"})
      fs::remove_all(one, ignored);
  }
  carried(const carried&) = delete;
  carried& operator=(const carried&) = delete;

  fs::path folder;
  std::size_t artifacts;
  fs::path payloads = folder / "payloads";
  fs::path bundle = folder / "bundle";
  fs::path packed = folder / "packed";
  runtime store{settings_of(folder / "store")};
};

std::function<double()> timed(std::function<void()> work) {
  return [work = std::move(work)] {
    const stopwatch watch;
    work();
    return watch.seconds();
  };
}

std::string whole(const carried& all, std::string_view what) {
  return fmt::format("{} of {} artifacts of 100 kB", what, all.artifacts);
}

void measure_export(row_run& run) {
  carried all(run, run.how().directory);
  const auto ours = [&] {
    if (checked(export_bundle(all.store, all.bundle)).records != all.artifacts)
      throw std::runtime_error("the bundle is not whole");
  };
  run.compare(
      {{"hearth", timed(ours)}, {"zstd", timed([&] { compress(all.payloads, all.packed); })}},
      whole(all, "an export"));
}

void measure_import(row_run& run) {
  carried all(run, run.how().directory);
  checked(export_bundle(all.store, all.bundle));
  compress(all.payloads, all.packed);
  std::unique_ptr<runtime> other;
  const auto empty_store = [&] {
    other.reset();
    fs::remove_all(all.folder / "other");
    other = std::make_unique<runtime>(settings_of(all.folder / "other"));
  };
  const auto ours = [&] {
    if (checked(import_bundle(*other, all.bundle)).added != all.artifacts)
      throw std::runtime_error("not all was imported");
  };
  run.compare({{"hearth", timed(ours), empty_store},
               {"zstd", timed([&] { compress(all.payloads, all.packed); })},
               {"unzstd", timed([&] { decompress(all.packed, all.folder / "unpacked"); })}},
              whole(all, "an import"));
  other.reset();
  fs::remove(all.folder / "unpacked");
}

} // namespace

void add_bundle_rows(registry& all) {
  all.rows.push_back(
      {"bundle.export", "a store's entries into a bundle, whole", {"zstd"}, measure_export});
  all.rows.push_back({"bundle.import",
                      "a bundle verified, then inserted into an empty store",
                      {"zstd", "unzstd"},
                      measure_import});
}

} // namespace hearth::bench
