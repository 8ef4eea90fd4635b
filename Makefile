# make demo   set everything up and run the example study from end to end
# make test   set up what the tests need and run them (make test-all: in their full size)
# make lint   style, spelling, types (make types: these alone)
# make docs   build the site of the documentation, in docs/_build
# make wheel  build wheel and sdist, and run the demo from the wheel in an empty environment
# make lowest test with the lowest versions that pyproject.toml states, without models, browser and R
# make web    build the page that participants see
.PHONY: demo test test-all lint types docs wheel lowest web packages pins clean
.DELETE_ON_ERROR:

# The first Python from 3.11 on that is there.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
TORCH ?= torch==2.13.0
# Where Linux has no GPU, the build of torch for CPUs saves some gigabytes; where its index is out of reach, the usual one does.
CPU_INDEX := $(shell test "$$(uname)" = Linux && ! command -v nvidia-smi >/dev/null && echo --index-url https://download.pytorch.org/whl/cpu)
VENV := .venv
BIN := $(VENV)/bin
WEB := experiment/players/web
PAGE := $(WEB)/dist/index.html
MODULES := $(WEB)/node_modules/.package-lock.json
PAGE_SOURCES := $(WEB)/package.json $(WEB)/package-lock.json $(WEB)/build.mjs $(WEB)/index.html $(wildcard $(WEB)/src/*)

demo: $(VENV)/.installed $(PAGE)
	$(BIN)/gardenpath demo --force

# Four processes on two cores: most of their time they wait for a browser, a server or R. Each has one thread for linear
# algebra: with more they would wait for one another. Files are dealt in their order, so that none with few but long tests comes last.
# Byte code is kept whatever the environment says: a hundred programs that tests start would each compile ours anew.
test: $(VENV)/.installed $(MODULES) packages $(VENV)/.r $(VENV)/.lab
	cd $(WEB) && npm test --silent
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder $(PYTEST)

# The same with as many robots as the docs state, not fewer.
test-all:
	$(MAKE) test PYTEST="--full $(PYTEST)"

lint: $(VENV)/.installed $(MODULES) types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell *.md docs study stimuli experiment lmscore analysis cli benchmarks
	cd $(WEB) && npm run --silent check

types: $(VENV)/.installed
	$(BIN)/mypy $(foreach package,study stimuli experiment lmscore analysis cli,-p gardenpath.$(package))

docs: $(VENV)/.installed
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build
	@echo "docs/_build/index.html"

# The wheel and the sdist, and the demo from the wheel in an environment that has nothing else.
wheel: $(PAGE) $(VENV)/.installed
	rm -rf build/wheel build/empty
	$(BIN)/python -m build --quiet --outdir build/wheel
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet --retries 1 --timeout 15 $(TORCH) $(CPU_INDEX) || build/empty/bin/python -m pip install --quiet $(TORCH)
	build/empty/bin/python -m pip install --quiet "$$(ls build/wheel/*.whl)[lm,online]"
	cd build/empty && bin/gardenpath demo --robots 9 --force

# The tests' own tools are as new as they come; what they need of ours is as old as it may be.
lowest: $(PAGE)
	rm -rf build/lowest
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install --quiet uv
	build/lowest/bin/uv pip install --quiet --python build/lowest --resolution lowest-direct '.[online,import,selection,parquet,postgres]'
	build/lowest/bin/uv pip install --quiet --python build/lowest hypothesis jsonschema pytest schemathesis 'setuptools>=77'
	PYTHONPATH=.types build/lowest/bin/python -m pytest tests/study tests/stimuli tests/cli tests/analysis -m "not lm and not slow and not r and not data"

web: $(PAGE)

$(PAGE): $(PAGE_SOURCES)
	@command -v npm >/dev/null || { echo "npm is not installed; expected Node.js 20 or newer with npm (Debian: apt-get install nodejs npm)"; exit 1; }
	cd $(WEB) && npm ci --no-audit --no-fund && npm run --silent build

# The page's own tests and its linter want the modules that build it; a page that came built has none.
$(MODULES): $(WEB)/package-lock.json | $(PAGE)
	test -e $@ || (cd $(WEB) && npm ci --no-audit --no-fund)
	touch $@

$(VENV)/.installed: pyproject.toml .ci/glmm.txt
	@test -n "$(PYTHON)" || { echo "no Python from 3.11 on was found; install one, or say  make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --retries 1 --timeout 15 $(TORCH) $(CPU_INDEX) || $(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement .ci/glmm.txt
	$(BIN)/python -m pip install --quiet --editable '.[lm,quantized,adapters,online,postgres,import,selection,browser]' --group dev
	touch $@

# What the tests need beside Python and Node.js: a browser, PostgreSQL, R, a screen without a monitor, fonts. What cannot be
# installed, here and in the two rules below, keeps nothing else from being tested: its tests are skipped and say why.
packages:
	@bash .ci/packages

# pymer4 and rpy2 are built against R, so they come after it.
$(VENV)/.r: pyproject.toml $(VENV)/.installed | packages
	@if ! command -v R >/dev/null; then echo "R is not here: the tests that compare with it are skipped"; \
	elif $(BIN)/python -m pip install --quiet --editable '.[r]'; then touch $@; \
	else echo "the extra 'r' cannot be installed: the tests of pymer4 are skipped"; fi

# Of PsychoPy only what a window with time-stamped keys needs: the whole extra `lab` is 1.6 GB, this is 0.1, and it leaves every
# package that is there as it is. PsychoPy has no release for Python 3.13.
$(VENV)/.lab: pyproject.toml $(VENV)/.installed
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 13))'; then touch $@; \
	elif $(BIN)/python -m pip install --quiet psutil pyyaml requests && \
		$(BIN)/python -m pip install --quiet --no-deps psychopy==2026.2.5 psychtoolbox==3.0.22.2 pyglet==1.5.27 \
			pyserial i18next json-tricks freetype-py python-bidi arabic-reshaper six; then touch $@; \
	else echo "PsychoPy cannot be installed: the tests of the lab's window are skipped"; fi

# Write the pinned contracts (names, tables, help texts, the demo's tables) anew, to be read in the diff.
pins: $(VENV)/.installed
	$(BIN)/python -m pytest tests/contract tests/stimuli/test_grammar_english.py --update-pins
	$(BIN)/python docs/reference_pages.py

clean:
	rm -rf $(VENV) $(WEB)/dist $(WEB)/node_modules demo build *.egg-info
