"""Slices of many rows, so that what is computed at once fits into little memory."""


def blocks(n: int, numbers: int, megabytes: float = 16) -> list[slice]:
    """Slices of range(n) so that `numbers` floats a row fit into about so many megabytes.

    Parameters
    ----------
    n : int
        The number of rows.
    numbers : int
        How many floats, of eight bytes each, are computed for one row.
    megabytes : float
        Memory for one block, in units of 1e6 bytes; a block has one row at least.

    Returns
    -------
    slices : list of slice

    Examples
    --------
    >>> blocks(5, 1_000_000, megabytes=16)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    rows = max(1, int(megabytes * 1e6 / (8 * max(1, numbers))))
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]
