"""Plays games concurrently and stores them."""
