"""What every public callable of decon says about itself."""

import importlib
import inspect
import pkgutil
import re
import sys

import pytest

import decon
from decon.families.protocol import Family

MODULES = [info.name for info in pkgutil.walk_packages(decon.__path__, "decon.")]
OF_A_FAMILY = {name for name in vars(Family) if not name.startswith("_")}


def public_callables(module):
    """Functions, classes with parameters, methods and getters that a module defines, by name."""
    for name, obj in vars(module).items():
        if name.startswith("_") or getattr(obj, "__module__", None) != module.__name__:
            continue
        members = {f"{name}.{key}": member for key, member in vars(obj).items()
                   if not key.startswith("_")} if inspect.isclass(obj) else {name: obj}
        if "__init__" in vars(obj) and not getattr(obj, "_is_protocol", False):
            yield name, obj
        for key, member in members.items():
            for wrapped in ("__func__", "fget", "func"):  # class methods, properties, cached ones
                member = getattr(member, wrapped, member)
            if inspect.isfunction(member):
                yield key, member


def faults(module):
    """Public callables without annotations, or without a section on their parameters."""
    found = []
    for name, obj in public_callables(module):
        signature, doc = inspect.signature(obj), inspect.getdoc(obj) or ""
        given = [p for key, p in signature.parameters.items() if key not in ("self", "cls")]
        bare = [p.name for p in given if p.annotation is p.empty]
        if inspect.isfunction(obj) and signature.return_annotation is signature.empty:
            bare.append("return")
        found += [f"{name}: no annotation of {part}" for part in bare]
        if name.split(".")[-1] in OF_A_FAMILY:  # the protocol says what these take and return
            continue
        section = re.search(r"^(Parameters|Attributes)\n-", doc, re.MULTILINE)
        text = doc[section.start():] if section else ""
        if not module.__name__.endswith(".settings"):  # there a comment says what each field is
            found += [f"{name}: no word on the parameter {p.name}" for p in given
                      if not re.search(rf"\b{p.name}\b", text)]
    return found


@pytest.mark.parametrize("name", MODULES)
def test_public_callables_are_annotated_and_documented(name):
    assert faults(importlib.import_module(name)) == []


def test_faults_are_found():
    module = type(sys)("example")
    exec("def bare(x, y: int): 'Says nothing.'\n"
         "class Thing:\n    def __init__(self, a): pass\n    def _hidden(self, b): pass\n"
         "    @property\n    def size(self): pass\n", vars(module))
    assert faults(module) == [
        "bare: no annotation of x", "bare: no annotation of return",
        "bare: no word on the parameter x", "bare: no word on the parameter y",
        "Thing: no annotation of a", "Thing: no word on the parameter a",
        "Thing.size: no annotation of return"]
