"""decon: take a black-box kernel machine apart, from its yes/no answers alone."""

from .deconstruction import Deconstruction, deconstruct
from .enumeration import enumerate_svms
from .incremental import IncrementalSVM
from .kernels import Gaussian, Linear, Polynomial, Tanh
from .machine import KernelMachine
from .oracle import BudgetExhausted, Oracle, OracleError
from .upgrading import upgrade

__version__ = "0.1.0"
__all__ = [
    "BudgetExhausted",
    "Deconstruction",
    "Gaussian",
    "IncrementalSVM",
    "KernelMachine",
    "Linear",
    "Oracle",
    "OracleError",
    "Polynomial",
    "Tanh",
    "deconstruct",
    "enumerate_svms",
    "upgrade",
]
