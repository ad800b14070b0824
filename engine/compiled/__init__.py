"""The compiled code: how it is built, kept on disk and told apart from that of other sources."""
