"""What tests share: mock engines, fake tournaments, oracles.

A program that tests start imports its neighbours by their plain names.
"""
