"""The engine that plays the games. It does not depend on the packages for matches and tuning."""
