# make book          build the book: _build/html/index.html
# make test          ruff, mypy, the tests of the module, and every notebook against its outputs
# make browser-test  the built book and its live figures in Chromium, which must be installed
# make pdf           print the book: _build/pdf/core.pdf and everything.pdf (needs Chromium)
# make epub          the book for e-readers: _build/epub/book.epub
# make course        notebooks for students and lecturers, plan and questions: _build/course
# make slides        a deck for every chapter: _build/html/slides/index.html
# make sessions      a deck for every session of the course, and handouts (needs Chromium)
# make stills        photograph the live figures, for pages without scripts (needs Chromium)
# make refresh       run every notebook again and store its outputs
# make experiments   run the long experiments again and store their results
# make requirements  pin what pyproject.toml asks for in requirements.txt (needs uv)
# make lint          ruff and mypy alone
# make clean         remove what the others have made, except .venv

PYTHON ?= python3
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
BIN := .venv/bin

NOTEBOOKS := $(shell find book -name '*.ipynb' -not -path '*/.ipynb_checkpoints/*')
EXPERIMENTS := $(basename $(notdir $(wildcard experiments/[!_]*.py)))
SOURCES := _config.yml _toc.yml $(wildcard tools/*.py) \
    $(shell find book -type f -not -path '*/.*') $(shell find decon -name '*.py' -o -name '*.js' -o -name '*.css')

# One thread a process: JOBS of them run at once, and the last digits do not depend on the cores.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1
export MKL_NUM_THREADS = 1

# Nor on the processor: the same code paths of numpy and OpenBLAS on every x86-64 machine with AVX2.
ifeq ($(shell uname -m),x86_64)
export OPENBLAS_CORETYPE = Haswell
export OPENBLAS_L2_SIZE = 512
export NPY_DISABLE_CPU_FEATURES = X86_V4 AVX512_ICL AVX512_SPR
endif

.PHONY: book pdf epub course kit slides sessions stills test browser-test test-figures test-pages refresh experiments requirements lint clean
.DELETE_ON_ERROR:

book: _build/html/index.html

# Always from scratch: a second, partial build would not repeat the warnings of the first.
_build/html/index.html: .venv/.installed $(SOURCES)
	rm -rf _build
	$(BIN)/jupyter-book build . -W --keep-going -q
	$(BIN)/python tools/check_html.py _build/html
	touch $@

test: lint
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal
	$(BIN)/python -m pytest -n $(JOBS) --dist loadscope \
	    --nbval --nbval-current-env --nbval-cell-timeout 120 \
	    --nbval-sanitize-with tools/nbval.cfg $(NOTEBOOKS)

browser-test: test-figures test-pages

test-figures: .venv/.installed
	$(BIN)/python -m pytest -n $(JOBS) browser --ignore browser/test_pages.py --ignore browser/test_paper.py

test-pages: book
	$(BIN)/python -m pytest -n $(JOBS) browser/test_pages.py browser/test_paper.py

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/mypy

pdf: book
	$(BIN)/python tools/print_book.py

epub: book
	$(BIN)/python tools/epub.py

# The book comes first: it starts with an empty _build. Chromium, for the handouts, comes last.
course: book
	$(MAKE) kit
	$(MAKE) sessions

kit: .venv/.installed
	$(BIN)/python -m course.kit
	$(BIN)/python -m course.bank
	$(BIN)/python -m pip wheel -q --no-deps -w _build/course/student .

slides: book
	$(BIN)/python -m tools.slides

sessions: book
	$(BIN)/python -m course.session_slides

stills: .venv/.installed
	$(BIN)/python tools/stills.py

refresh: .venv/.installed
	$(BIN)/python tools/refresh.py --jobs $(JOBS) $(NOTEBOOKS)

experiments: .venv/.installed
	set -e; for name in $(EXPERIMENTS); do $(BIN)/python -m experiments.$$name $(OPTIONS); done

requirements:
	uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
	    --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	    pyproject.toml --all-extras --output-file requirements.txt
	echo '-e .' >> requirements.txt

.venv/.installed: requirements.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -r requirements.txt
	touch $@

clean:
	rm -rf _build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
