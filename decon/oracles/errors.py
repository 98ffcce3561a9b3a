"""What an oracle raises when it cannot answer."""


class OracleError(RuntimeError):
    """The model's answers cannot be used; `result` holds what had been learned so far, or None."""

    result = None


class SeveralClasses(OracleError):
    """The model's labels are of more than two kinds."""


class BudgetExhausted(OracleError):
    """The next query would cost more than the budget allows; it was not sent."""


class SearchTooLong(BudgetExhausted):
    """A search has reached the automatic budget: it is given up, and what is known is kept."""
