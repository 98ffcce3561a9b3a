"""Does the boundary of a tanh machine determine its units? The hypotheses of the theorem."""


def doubt(units: int, rank: int) -> str:
    """Why the units of a tanh machine need not be the model's own; empty, if they must be.

    By thm-tanh-at-infinity-unique no other sum of tanh units has the same boundary, with any number
    of units in any directions, if there are three or more, with independent vectors.

    Parameters
    ----------
    units : int
    rank : int
        The dimension that their vectors span.

    Returns
    -------
    str

    Examples
    --------
    >>> doubt(3, 3)
    ''
    >>> doubt(4, 3)
    'more tanh units than dimensions: others may have the same boundary'
    """
    if units > rank:
        return "more tanh units than dimensions: others may have the same boundary"
    if units < 3:
        return "two tanh units: other pairs have the same boundary"
    return ""
