"""The same examples in every run: a failure elsewhere is a failure here."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
