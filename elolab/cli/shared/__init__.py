"""Options, output and words that several commands share."""
