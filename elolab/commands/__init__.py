"""The commands that join what the other packages have."""
