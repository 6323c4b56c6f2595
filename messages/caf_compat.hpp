// The only header that depends on the CAF version: signatures of typed actors, state access, and
// conversion of errors.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <caf/error.hpp>
#include <caf/fwd.hpp>
#include <caf/sec.hpp>
#include <caf/typed_actor.hpp>

#if CAF_VERSION < 1700 || CAF_VERSION >= 1800
#error "Hearth is built and tested with CAF 0.17.6; other versions need this header adapted"
#endif

CAF_ERROR_CODE_ENUM(hearth::errc, "hearth")

namespace HEARTH_PUBLIC hearth {

namespace signature {
template <class Signature>
struct handler_of;
template <class... Out, class... In>
struct handler_of<caf::result<Out...>(In...)> {
  using type = typename caf::replies_to<In...>::template with<Out...>;
};
template <class... In>
struct handler_of<void(In...)> {
  using type = caf::reacts_to<In...>;
};
} // namespace signature

/// A typed actor of signatures `caf::result<Out>(In...)`, or `void(In...)` without an answer.
template <class... Signatures>
using actor_of = caf::typed_actor<typename signature::handler_of<Signatures>::type...>;

/// Converts an error of Hearth to CAF's: the code, with the text as context.
inline caf::error to_caf(const error& e) {
  return {static_cast<std::uint8_t>(e.code()), caf::atom("hearth"), caf::make_message(e.text())};
}

/// Converts CAF's error to Hearth's. An error of CAF itself becomes `timeout`, `closed` or
/// `internal`.
inline error from_caf(const caf::error& e) {
  if (e.category() == caf::atom("hearth")) {
    const auto& context = e.context();
    const bool has_text = context.size() == 1 && context.match_element<std::string>(0);
    return {static_cast<errc>(e.code()), has_text ? context.get_as<std::string>(0) : ""};
  }
  if (e == caf::sec::request_timeout) return {errc::timeout, "an actor did not answer in time"};
  if (e == caf::sec::request_receiver_down)
    return {errc::closed, "the actor asked is gone: the runtime shuts down"};
  return {errc::internal, "an actor answered with " + caf::to_string(e)};
}

} // namespace hearth
