"""Fitted models of scikit-learn that compute a function of ours."""

from typing import Any

import numpy as np

from ..types import Array


def fitted_svc(kernel: dict[str, Any], support_vectors: Array, weights: Array,
               threshold: float) -> Any:
    """A scikit-learn SVC with this decision function, as if it had been trained to it.

    Parameters
    ----------
    kernel : dict
        Arguments of SVC: of a kernel's `to_sklearn`.
    support_vectors, weights : arrays (m, d), (m,)
    threshold : float

    Returns
    -------
    sklearn.svm.SVC
        Of the classes -1 and +1, with the support vectors of negative weights first.

    Examples
    --------
    >>> svc = fitted_svc({"kernel": "linear"}, np.array([[2.]]), np.array([1.]), 3.)
    >>> svc.decision_function([[2.], [1.]]), svc.predict([[2.], [1.]])
    (array([ 1., -1.]), array([ 1, -1]))
    """
    from sklearn.svm import SVC

    # libsvm has no negative gamma, and no machine without support vectors
    kernel, Y, w = dict(kernel), support_vectors, weights
    if kernel.get("gamma", 1.0) < 0:
        kernel["gamma"], Y = -kernel["gamma"], -Y
    if len(Y) == 0:
        Y, w = np.zeros((1, Y.shape[1])), np.zeros(1)
    order = np.argsort(w >= 0, kind="stable")

    # what SVC.fit sets, public attributes first; libsvm counts the first class as positive
    svc = SVC(**kernel)
    svc.classes_, svc.class_weight_ = np.array([-1, 1]), np.ones(2)
    svc.n_features_in_, svc.shape_fit_ = Y.shape[1], Y.shape
    svc.support_ = np.arange(len(Y), dtype=np.int32)
    svc.support_vectors_ = np.ascontiguousarray(Y[order], float)
    svc.dual_coef_, svc.intercept_ = w[None, order].astype(float), np.array([-float(threshold)])
    svc.fit_status_, svc.n_iter_ = 0, np.zeros(1, np.int32)
    svc._n_support = np.array([(w < 0).sum(), (w >= 0).sum()], np.int32)
    svc._dual_coef_, svc._intercept_ = -svc.dual_coef_, -svc.intercept_
    svc._gamma, svc._sparse = float(kernel.get("gamma", 1.0)), False
    svc._probA = svc._probB = np.empty(0)
    svc._effective_probability, svc._num_iter = False, svc.n_iter_
    return svc


def fitted_scaler(origin: Array, units: Array) -> Any:
    """A scikit-learn StandardScaler to (x - origin) / units, as if it had been fitted.

    Parameters
    ----------
    origin, units : arrays (d,)

    Returns
    -------
    sklearn.preprocessing.StandardScaler

    Examples
    --------
    >>> fitted_scaler(np.array([1.]), np.array([2.])).transform([[5.]])
    array([[2.]])
    """
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = origin.copy(), units.copy()
    scaler.var_, scaler.n_samples_seen_, scaler.n_features_in_ = units**2, 1, len(origin)
    return scaler
