"""Files in which people keep games, read into ``PortableGame``: a module a format, listed in ``formats``."""
