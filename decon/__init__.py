"""decon: take a black-box kernel machine apart, from its yes/no answers alone."""

from .extraction.deconstruct import deconstruct
from .extraction.result import Deconstruction
from .kernels import Gaussian, Linear, Polynomial, Tanh
from .learning.enumeration import enumerate_svms
from .learning.incremental import IncrementalSVM
from .learning.upgrading import upgrade
from .machine import KernelMachine
from .multiclass.deconstruct_classes import deconstruct_classes
from .multiclass.oracle import ClassOracle
from .multiclass.result import ClassesResult
from .oracles.errors import BudgetExhausted, OracleError
from .oracles.oracle import Oracle

__version__ = "0.1.0"
__all__ = [
    "BudgetExhausted", "ClassOracle", "ClassesResult", "Deconstruction", "Gaussian",
    "IncrementalSVM", "KernelMachine", "Linear", "Oracle", "OracleError", "Polynomial", "Tanh",
    "deconstruct", "deconstruct_classes", "enumerate_svms", "upgrade",
]
