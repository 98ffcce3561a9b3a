"""What an oracle raises when it cannot answer."""


class OracleError(RuntimeError):
    """The model's answers cannot be used; `result` holds what had been learned so far, or None.

    Examples
    --------
    >>> from decon import Oracle, OracleError
    >>> oracle = Oracle(lambda X: ["yes"], dimension=2)  # one label for two points
    >>> try:
    ...     oracle([[0., 0.], [1., 1.]])
    ... except OracleError as error:
    ...     error.result is None
    True
    """

    result = None


class SeveralClasses(OracleError):
    """The model's labels are of more than two kinds.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0].astype(int), dimension=1)
    >>> try:
    ...     oracle([[0.], [1.], [2.]])
    ... except SeveralClasses:
    ...     print("choose one label: positive=...")
    choose one label: positive=...
    """


class BudgetExhausted(OracleError):
    """The next query would cost more than the budget allows; it was not sent.

    Examples
    --------
    >>> from decon import BudgetExhausted, Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0, dimension=1, budget=3)
    >>> try:
    ...     oracle([[0.], [1.], [2.], [3.]])
    ... except BudgetExhausted:
    ...     oracle.queries
    0
    """


class SearchTooLong(BudgetExhausted):
    """A search has reached the automatic budget: it is given up, and what is known is kept."""
