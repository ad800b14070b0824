"""Players of every kind behind the interface in ``player``; ``registry`` lists the protocols."""
