"""The commands that improve settings and measure them."""
