"""Errors of users: problem and remedy are apart, and both write arguments as the user does."""

from elolab.engine.errors import PositionError, UserError, argument


def test_an_error_with_its_place_keeps_the_remedy_and_the_arguments() -> None:
    error = UserError.at("line 3", PositionError("no position", f"give {argument('fen', 'TEXT')}"))
    assert str(error) == "line 3: no position; give --fen TEXT"
    error.spell = lambda name, value: f"{name}={value!r}"
    assert (error.problem, error.remedy) == ("line 3: no position", "give fen='TEXT'")
    assert str(UserError("no position")) == "no position"
