"""Readers of game archives, which produce ``PortableGame``: one module per format, listed in ``formats``."""
