// Which symbols a shared library of Hearth exports: what the public headers declare, and no more.
// All else is compiled with hidden visibility.
#pragma once

/// For the namespace of a public header: `namespace HEARTH_PUBLIC hearth {`.
#define HEARTH_PUBLIC [[gnu::visibility("default")]]
