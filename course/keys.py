"""The lecturer's file: the secret seed of the models, and a key for every team."""

import json
import os
import secrets
from pathlib import Path


def make_keys(path: str | Path, teams: list[str]) -> dict[str, str]:
    """Write a new file for some teams, readable by its owner alone; add those that are new.

    Parameters
    ----------
    path : path-like
        If the file is there, its seed and keys stay as they are.
    teams : list of str

    Returns
    -------
    dict of str to str
        Keys by team, of all in the file.
    """
    path = Path(path)
    known = read_keys(path) if path.exists() else {"seed": secrets.randbits(48), "teams": {}}
    for team in teams:
        known["teams"].setdefault(team, secrets.token_urlsafe(12))
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump(known, file, indent=1, ensure_ascii=False)
    return known["teams"]


def read_keys(path: str | Path) -> dict:
    """The seed and the teams' keys.

    Raises
    ------
    ValueError
        If the file is not one that `make_keys` has written.
    """
    try:
        known = json.loads(Path(path).read_text(encoding="utf-8"))
        assert isinstance(known["seed"], int) and isinstance(known["teams"], dict)
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise ValueError(f"{path} is not a file of keys: make one by `python -m course keys`"
                         ) from error
    return known
