"""Compiled code: building it, caching it on disk, and identifying the sources it belongs to."""
