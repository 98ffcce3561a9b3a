"""What an installed decon is: all folders are there, and importing it is light."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from shutil import copyfile, copytree

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ["matplotlib", "cvxpy", "mlxtend", "scipy.stats", "IPython"]
DECONSTRUCT = """
import numpy as np
from pathlib import Path
import decon
from decon import *
for kernel in (Linear(), Polynomial(2), Polynomial(3), Tanh(2., .1), Gaussian(2.)):
    model = KernelMachine.random(kernel, 8, 3, random_state=1)
    features = np.random.default_rng(0).standard_normal((30, 8))
    result = deconstruct(Oracle(model.predict, 8), features, progress=False)
    print(kernel.name == result.kernel_type, end=" ")
print(Path(decon.__file__).parts[-3])
"""


def test_importing_decon_is_light():
    code = f"import sys, decon; print([m for m in {HEAVY} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.slow
def test_a_wheel_holds_every_folder_and_works(tmp_path):
    # build it, from a copy: setuptools leaves its own behind
    for name in ("decon", "pyproject.toml", "README.md", "LICENSE"):
        copy = copytree if (ROOT / name).is_dir() else copyfile
        copy(ROOT / name, tmp_path / "source" / name)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path]
    subprocess.run([*build, tmp_path / "source"], check=True)
    (wheel,) = tmp_path.glob("decon-*.whl")

    # install it into an empty environment that borrows only the dependencies
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.check_output([python, "-I", "-c", where], text=True).strip())
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target",
                    site, wheel], check=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    # no file is missing, and the five kernels are recovered
    files = {path.relative_to(site).as_posix() for path in (site / "decon").rglob("*.py")}
    expected = {path.relative_to(ROOT).as_posix() for path in (ROOT / "decon").rglob("*.py")}
    assert files == expected and (site / "decon" / "py.typed").exists()
    said = subprocess.check_output([python, "-I", "-c", DECONSTRUCT], text=True)
    assert said.split() == ["True"] * 5 + ["site-packages"]
