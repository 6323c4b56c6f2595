"""Hearth behind the cache interfaces of other projects.

* `hearth.adapters.inductor_cache`: the classes of PyTorch's `torch._inductor.cache`
* `hearth.adapters.torch_remote`: the remote caches of PyTorch's compiler
* `hearth.adapters.triton`: Triton's cache manager, and its remote cache backend
* `hearth.adapters.jax`: JAX's persistent compilation cache

Each module imports its project at the first use only. The store is the argument, else the variable
HEARTH_STORE, else `hearth` in the user's cache folder; the server of the remote tier is the
argument, else HEARTH_REMOTE.
"""
