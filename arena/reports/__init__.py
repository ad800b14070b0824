"""Reports on games: HTML and Markdown pages, tables and plots."""
