"""Reports on games: pages, tables, plots."""
