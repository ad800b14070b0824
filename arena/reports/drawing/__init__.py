"""What all figures are made of: their style, the files they become, and marks that keep them from misleading."""
