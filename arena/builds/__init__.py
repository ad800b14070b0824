"""Players given as git commits: their repositories, and the builds that elolab keeps."""
