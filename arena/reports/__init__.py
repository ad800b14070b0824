"""What is written about games: pages, tables, plots."""
