"""Labels of any kind, and the weights of their classes."""

from typing import Any

import numpy as np

from ..types import Array, ArrayLike


def classes_of(labels: ArrayLike) -> Array:
    """The classes that labels are of, sorted.

    Parameters
    ----------
    labels : array (n,)

    Returns
    -------
    array (k,)
        Where -1 or +1 alone occurs, both.

    Examples
    --------
    >>> classes_of([3, 1, 3]), classes_of([1, 1]), classes_of(["no"]).tolist()
    (array([1, 3]), array([-1,  1]), ['no'])
    """
    classes = np.unique(labels)
    if classes.dtype.kind in "if" and np.isin(classes, (-1, 1)).all():
        return np.array([-1, 1], classes.dtype)
    return classes


def codes_of(labels: ArrayLike, classes: Array) -> Array:
    """The number of each label's class.

    Parameters
    ----------
    labels : array (n,)
    classes : array (k,)
        Sorted.

    Returns
    -------
    array (n,) of ints

    Raises
    ------
    ValueError
        If a label is of none of the classes.

    Examples
    --------
    >>> codes_of(["yes", "no"], np.array(["no", "yes"]))
    array([1, 0])
    """
    labels = np.asarray(labels)
    unknown = [label for label in np.unique(labels).tolist() if label not in classes.tolist()]
    if unknown:
        raise ValueError(f"labels must be of the classes {classes.tolist()}, got {unknown[:5]}: "
                         "fit starts with new classes, and partial_fit(X, y, classes=...) names "
                         "all of them at its first call")
    return np.searchsorted(classes, labels)


def signs_of(labels: ArrayLike, own: tuple[Any, Any] = (1, -1)) -> Array:
    """Labels as signs +1 and -1.

    Parameters
    ----------
    labels : array (n,)
        A model's own labels; or +1 and -1, 1 and 0, True and False; or two others, of which the
        larger is +1.
    own : pair
        The model's own labels for +1 and for -1.

    Returns
    -------
    array (n,) of +1. and -1.

    Raises
    ------
    ValueError
        If it cannot be known what a label stands for.

    Examples
    --------
    >>> signs_of([0, 1]), signs_of(["cat"], own=("cat", "dog"))
    (array([-1.,  1.]), array([1.]))
    """
    labels = np.asarray(labels)
    met = np.unique(labels).tolist()
    if all(label in own for label in met):
        return np.where(labels == own[0], 1.0, -1.0)
    if all(label in (0, 1) for label in met):
        return np.where(labels == 1, 1.0, -1.0)
    classes = classes_of(labels)
    if len(classes) != 2 or classes.dtype.kind == "f" and not np.isfinite(classes).all():
        raise ValueError(f"labels must be +1 and -1, 1 and 0, or the model's own {own}, or any two "
                         f"that both occur; got {met[:5]}")
    return np.where(labels == classes[1], 1.0, -1.0)


def joined(classes: Array, label: Any) -> Array:
    """The classes and one label more.

    Parameters
    ----------
    classes : array (k,)
    label : scalar

    Returns
    -------
    array (k,) or (k + 1,)

    Raises
    ------
    ValueError
        If one is a text and the other a number, or it is no label at all.

    Examples
    --------
    >>> joined(np.array([0, 1]), 2)
    array([0, 1, 2])
    """
    new = np.asarray(label)
    texts = [array.dtype.kind not in "biuf" for array in (new, classes) if array.size]
    if new.ndim or new.dtype.kind in "fc" and not float(new).is_integer() or len(set(texts)) > 1:
        raise ValueError("labels must be whole numbers, or all of them texts, one for each "
                         f"example; got {label!r}")
    return classes_of(np.append(classes, new) if classes.size else new[None])


def class_weights(class_weight: dict | str | None, classes: Array, labels: ArrayLike) -> Array:
    """The weight of each class.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None
        By label, 1 for those that are left out; or n / (k n_c) for n_c examples of a class.
    classes : array (k,)
    labels : array (n,)

    Returns
    -------
    array (k,)

    Raises
    ------
    ValueError
        If it is something else, names other classes instead of these or holds a negative number.

    Examples
    --------
    >>> class_weights("balanced", np.array([0, 1]), [0, 0, 0, 1]).round(3)
    array([0.667, 2.   ])
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        count = np.bincount(codes_of(labels, classes), minlength=len(classes))
        return count.sum() / (np.count_nonzero(count) * np.maximum(count, 1))
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
    given = sum(label in class_weight for label in classes.tolist())
    mistaken = given < min(len(classes), len(class_weight))
    weights = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], float)
    if mistaken or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("class_weight must hold a finite number >= 0 for each of the classes "
                         f"{classes.tolist()}, got {class_weight!r}")
    return weights


def checked_weights(sample_weight: ArrayLike | None, n: int) -> Array:
    """The weights of examples.

    Parameters
    ----------
    sample_weight : array (n,), float or None
    n : int

    Returns
    -------
    array (n,)

    Raises
    ------
    ValueError
        If the shape is another, a weight is negative or not finite, or all are zero.

    Examples
    --------
    >>> checked_weights(None, 2), checked_weights([0, 3], 2)
    (array([1., 1.]), array([0., 3.]))
    """
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, float)
    weight = np.full(n, weight) if weight.ndim == 0 else weight
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must be of shape ({n},), got {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("a sample_weight must be finite and not negative")
    if not weight.any():
        raise ValueError("the sample_weight of every example is zero: nothing can be learned")
    return weight
