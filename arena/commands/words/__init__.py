"""The words by which a command line describes a tournament; where cutechess-cli and fastchess have the same, theirs."""
