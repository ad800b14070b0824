"""Fitting of evaluation weights to self-play games."""
