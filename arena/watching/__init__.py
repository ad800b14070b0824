"""Following a run from outside: its folder read again and again, a page in the browser, never a change."""
