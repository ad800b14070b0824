"""Builds players from git commits: repositories, builds, and the cache in which elolab keeps both."""
