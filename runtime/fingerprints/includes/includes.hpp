// The include closure of a source: the source and every file that it includes, system headers too,
// by content. A key that covers less will return a wrong program some day.
//
// A scan runs the compiler (`-M`) and is remembered with all facts that it depends on
// (include_record.hpp), so that a run without changes starts no compiler. Each run scans anew the
// sources that may look for files by names not in their text (`__has_include` of a macro, #embed,
// trigraphs), and all sources of compilers that do not print their search path. A source other than
// a system header that contains .incbin is refused: the compiler does not list the file that it
// reads.
//
// Which files are read may depend on a configuration's macros (`#if TILE == 16` around an
// #include). Where directives.hpp shows that they do not, one scan serves all configurations of a
// source; otherwise each has its own.
//
// One run (one plan) owns a scanner; any thread may call it, and concurrent calls for the same
// source share one scan.
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
  std::string name; ///< as the compiler spells it, also in __FILE__
  file_content state;
};

/// All the files that one compiler run reads as source.
struct source_closure {
  std::string directory;          ///< base of relative names
  std::vector<source_file> files; ///< sorted by name, each once
  /// SHA-256 over the names and contents. Files below the plan's folder have relative names when
  /// the source has one, so two checkouts of a plan have one identity; others, such as system
  /// headers, have absolute names.
  digest identity;
  bool remembered = false; ///< whether no compiler was started for it

  /// Whether no file has changed since its content was read. The caller checks this after the
  /// compiler has ended: its output belongs to `identity` only if true.
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
  std::mutex guard_; // guards the members below
  std::map<std::string, std::shared_ptr<source_state>> sources_;
  std::map<digest, std::unique_ptr<const source_text>> texts_;
};

} // namespace hearth::fingerprints
