// What a source is made of: itself and everything that it includes, system headers too, each by
// content. A key that holds less than that is a wrong program some day.
//
// A scan asks the compiler (`-M`) and is remembered with all that it rests on (include_record.hpp),
// so that a run in which nothing changed starts no compiler. Sources that could look for files by
// names that their text does not show are scanned in each run: `__has_include` of a macro, #embed,
// trigraphs; so are those of compilers that do not explain their search path. A source of ours that
// speaks of .incbin is refused: the compiler does not list the file that it reads.
//
// Which files are read may depend on a configuration's macros (`#if TILE == 16` around an
// #include). Where directives.hpp shows that it cannot, one scan serves all configurations of a
// source; otherwise each has its own.
//
// One run (one plan) owns a scanner; any thread may ask it, and those who ask for the same at once
// share one scan.
#pragma once

#include "actors/ports/programs.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/includes/include_record.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"
#include "runtime/fingerprints/toolchain/toolchain.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// One file of a closure.
struct source_file {
  std::string name; ///< as the compiler spells it, which is what __FILE__ says
  file_content state;
};

/// All the files that one compiler run reads as source.
struct source_closure {
  std::string directory;          ///< that relative names are relative to
  std::vector<source_file> files; ///< sorted by name, each once
  /// SHA-256 over the names and contents. Files below the plan's folder have relative names when
  /// the source was named so, hence two checkouts of one plan have one identity; all others, as
  /// system headers, have absolute names.
  digest identity;
  bool remembered = false; ///< whether no compiler was started for it

  /// Whether no file has changed since its content was read. To be asked when the compiler has
  /// ended: what it made belongs to `identity` only if so.
  bool still_holds() const;
};

/// A macro as the compiler is told: "-D" + name + "=" + text.
struct macro {
  std::string name;
  std::string text;
  friend auto operator<=>(const macro&, const macro&) = default;
};

/// The compiler's arguments for `macros`, in their order.
std::vector<std::string> macro_arguments(std::span<const macro> macros);

class include_scanner {
public:
  /// All of these outlive the scanner. `deadline` bounds each compiler run.
  include_scanner(const toolchain& compiler, file_view& files, actors::process_runner& runner,
                  fact_memo& memo, std::chrono::milliseconds deadline);
  ~include_scanner();
  include_scanner(const include_scanner&) = delete;
  include_scanner& operator=(const include_scanner&) = delete;

  /// The closure of `source` (a path as it is given to the compiler: relative to the plan's folder,
  /// or absolute) when it is compiled with `macros`. Errors: `not_found` (the source itself);
  /// `compile_failed` with the compiler's own message when it cannot read an include;
  /// `unsupported` for a file whose name the compiler cannot tell, and for .incbin; `timeout`,
  /// `cancelled`, and what the runner and reading files report.
  expected<std::shared_ptr<const source_closure>>
  closure_of(const std::string& source, std::span<const macro> macros, std::stop_token stop = {});

private:
  struct source_state;
  struct finding;
  using answer = expected<std::shared_ptr<const source_closure>>;

  answer find_or_scan(source_state& state, const std::string& source, std::span<const macro> macros,
                      const std::stop_token& stop);
  answer recall(const std::string& key);
  expected<finding> scan(const std::string& source, std::span<const macro> macros,
                         const std::stop_token& stop);
  expected<std::vector<std::string>> ask(const std::string& source, std::span<const macro> macros,
                                         const std::stop_token& stop);
  expected<finding> inspect(const std::string& source, std::vector<std::string> names,
                            std::span<const macro> macros);
  expected<const source_text*> text_of(const std::string& path, const digest& content);
  std::string memo_key(const std::string& source, std::span<const macro> macros,
                       bool with_texts) const;
  bool is_own(const std::string& name) const;

  const toolchain& compiler_;
  search_settings settings_;
  std::string settings_key_;
  file_view& files_;
  actors::process_runner& runner_;
  fact_memo& memo_;
  std::chrono::milliseconds deadline_;
  std::mutex guard_; // of what follows
  std::map<std::string, std::shared_ptr<source_state>> sources_;
  std::map<digest, std::unique_ptr<const source_text>> texts_;
};

} // namespace hearth::fingerprints
