# Each target sets up what it needs in .venv. `make quickstart` and `make test` are the two commands of the README.
SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
# Bytecode makes every start of a keeper, an agent and a script twice as fast.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: pictures compatibility studio studio-dev studio-types slurm-cluster slurm-cluster-stop quickstart test test-fast check bench recipe soak install-azureml clean format ray-cluster ray-cluster-stop

# --- what the README promises ---------------------------------------------------------------------------------------
quickstart: $(VENV)/.vision $(VENV)/.tabular $(VENV)/.azureml studio
	$(BIN)/python examples/quickstart.py

test: $(VENV)/.vision $(VENV)/.azureml $(VENV)/.test studio
	$(BIN)/python tests/side_by_side.py $(PYTEST_ARGS)

# An estimated five minutes on two quiet cores: every room, without what is marked slow (docs/inside/tests.md).
test-fast: $(VENV)/.vision $(VENV)/.azureml $(VENV)/.test studio
	$(BIN)/python tests/side_by_side.py -m "not slow" $(PYTEST_ARGS)

# A Ray cluster of three nodes in network namespaces of this machine (needs root); prints what to type next.
ray-cluster: $(VENV)/.test
	$(BIN)/python -m rookery.testing.ray_cluster up

ray-cluster-stop: $(VENV)/.test
	$(BIN)/python -m rookery.testing.ray_cluster down

# --- for developers -------------------------------------------------------------------------------------------------
check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python studio/generate_types.py --check
	$(BIN)/python studio/build.py --check

# The web page, built into the package where its sources are newer. Node comes from the machine, or from PyPI where it has none.
studio: $(VENV)/.base
	$(BIN)/python studio/build.py

# Its pages from the sources, live, beside a keeper: ROOKERY_STUDIO_KEEPER=http://127.0.0.1:PORT (`rookery studio --no-open` says which).
studio-dev: $(VENV)/.base
	cd studio && npx vite

# After a change of the API.
studio-types: $(VENV)/.base
	$(BIN)/python studio/generate_types.py

# Writes the import map of docs/compatibility.md as it is now; a test compares.
compatibility: $(VENV)/.base
	$(BIN)/python -m rookery.testing.compatibility

# The README's picture of the studio, taken anew: the quickstart's training, two minutes.
pictures: $(VENV)/.vision $(VENV)/.azureml $(VENV)/.test studio
	mkdir -p docs/pictures
	STUDIO_PICTURES=1 $(BIN)/python -m pytest tests/studio/test_pictures.py -k trained

bench: $(VENV)/.vision $(VENV)/.azureml $(VENV)/.test $(VENV)/.mlflow
	$(BIN)/python -m benchmarks

# Long, outside CI: random kills by the hundred. Its last result is in docs/reliability.md.
SOAK_SEEDS ?= 30
soak: $(VENV)/.azureml $(VENV)/.test
	SOAK_SEEDS=$(SOAK_SEEDS) $(BIN)/python -m pytest --durations=5 tests/stories/test_kill_anything.py tests/stories/test_preempt_anything.py
	LOAD_SECONDS=60 $(BIN)/python -m pytest tests/server/test_load.py
	TUNE_CHILDREN=200 $(BIN)/python -m pytest --timeout 3600 tests/tune/test_for_real.py -k many_children

# A Slurm of two nodes on this machine (root; what is missing is installed with apt-get). It says what to type next.
slurm-cluster: $(VENV)/.base
	$(BIN)/python -m rookery.testing.slurm_cluster start

slurm-cluster-stop: $(VENV)/.base
	$(BIN)/python -m rookery.testing.slurm_cluster stop

# Our training recipe beside the original page's, on 24 drawn categories; its last result is in docs/scaling.md.
recipe: $(VENV)/.vision
	$(BIN)/python -m benchmarks.vision_recipe

install-azureml: $(VENV)/.azureml

format: $(VENV)/.check
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .venv-conda .venv-data .venv-lightning .venv-mlflow .venv-ray .venv-serving .venv-stores .venv-tabular .venv-node studio/node_modules src/rookery/server/static quickstart .pytest_cache .mypy_cache .ruff_cache

# --- set-up ---------------------------------------------------------------------------------------------------------
$(VENV)/.base: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	SKIP_UI=1 $(BIN)/python -m pip install -q -c constraints.txt -e .
	touch $@

# torch goes in by its exact version: see constraints.txt.
$(VENV)/.vision: $(VENV)/.base
	$(BIN)/python -m pip install -q -c constraints.txt torch==2.13.0 torchvision==0.28.0
	SKIP_UI=1 $(BIN)/python -m pip install -q -c constraints.txt -e '.[vision]'
	touch $@

# Pandas and scikit-learn, for the designer's modules for tables.
$(VENV)/.tabular: $(VENV)/.base
	SKIP_UI=1 $(BIN)/python -m pip install -q -c constraints.txt -e '.[tabular]'
	touch $@

$(VENV)/.azureml: $(VENV)/.base shims/pyproject.toml $(wildcard shims/azureml/*.py)
	$(BIN)/python -m pip install -q -c constraints.txt ./shims
	touch $@

$(VENV)/.test: $(VENV)/.base
	SKIP_UI=1 $(BIN)/python -m pip install -q -c constraints.txt -e '.[test]'
	touch $@

$(VENV)/.check: $(VENV)/.base
	SKIP_UI=1 $(BIN)/python -m pip install -q -c constraints.txt -e '.[test,check]'
	touch $@

# The peer that the benchmarks measure, in an environment of its own.
$(VENV)/.mlflow: $(VENV)/.base
	test -x .venv-mlflow/bin/python || $(PYTHON) -m venv .venv-mlflow
	.venv-mlflow/bin/python -m pip install -q mlflow==3.17.2
	touch $@
