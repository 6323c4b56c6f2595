/* A compile cache for a program in C: a hit, or one compile for all who ask. */
#include <hearth.h>

#include <stdio.h>
#include <string.h>

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, hearth_error());
  return 1;
}

int main(int argc, char **argv) {
  hearth_host *host = NULL;
  hearth_cache *kernels = NULL;
  const char *store = argc > 1 ? argv[1] : NULL; /* NULL: in memory alone */
  if (hearth_open(store, NULL, &host) != HEARTH_OK) return fail("open");
  if (hearth_cache_open(host, "kernels", "1", &kernels) != HEARTH_OK) return fail("cache");

  hearth_key *key = hearth_key_text("matmul", strlen("matmul"));
  for (int i = 0; i < 2; ++i) {
    hearth_value code;
    hearth_lease *lease = NULL;
    switch (hearth_acquire(kernels, key, -1, &code, &lease)) {
    case HEARTH_OK:
      printf("a hit: ");
      break;
    case HEARTH_COMPILE:
      printf("compiled: ");
      if (hearth_fulfil(lease, "machine code", 12, &code) != HEARTH_OK) return fail("fulfil");
      break;
    default:
      return fail("acquire");
    }
    printf("%.*s\n", (int)code.size, (const char *)code.data);
    hearth_value_release(&code);
  }

  hearth_key_free(key);
  hearth_cache_close(kernels);
  hearth_close(host);
  return 0;
}
