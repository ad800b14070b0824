"""Tests of the literature's claims about game engines."""
