"""Options, output and ``NAME=VALUE`` arguments that several commands share."""
