"""The engine plays games; it does not depend on matches or tuning."""
