"""What an oracle raises when it cannot answer."""


class OracleError(RuntimeError):
    """The box did not do what a laconic box does; `result` holds what had been learned so far."""

    result = None


class BudgetExhausted(OracleError):
    """The next question would cost more than the budget allows; it was not asked."""
