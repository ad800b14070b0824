"""Errors a user can cause: one line that names the place, the value and the remedy."""


class UserError(Exception):
    """Wrong input; the message is complete as it stands and is shown without a traceback."""

    exit_code = 2
