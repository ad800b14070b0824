"""Parts of all figures: style, files, and marks that prevent misreading."""
