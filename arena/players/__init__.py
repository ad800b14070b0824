"""Players of every kind behind one interface (``contract``), by the protocol that they speak (``registry``)."""
