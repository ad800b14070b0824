"""Compilation of the engine with numba, the cache of machine code on disk, and digests of the sources."""
