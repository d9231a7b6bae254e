# The front door: `make help` lists every verb. Everything runs from .venv, made by `make setup`.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup run test conformance bench verify presubmit lint types imports protos manifests fmt proto up down

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: .venv/.ready ## environment, locked dependencies, the CLI at .venv/bin/joiner

.venv/.locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Joiner needs Python 3.11 or later; name one with PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "this Python has no venv; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

.venv/.kernel: .venv/.locked $(wildcard kernel/pyproject.toml kernel/CMakeLists.txt kernel/*/*.cpp kernel/*/*.h kernel/*/*.py)
	$(BIN)/pip install --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall ./kernel
	@touch $@

.venv/.ready: .venv/.locked .venv/.kernel pyproject.toml
	$(BIN)/pip install --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

run: setup ## watch real services buy nodes for real pods; KEEP=1 stays up
	$(BIN)/joiner run $(if $(KEEP),--keep)

test: setup ## unit, scenario, contract and integration tests: parallel, random order
	env --unset KUBECONFIG $(BIN)/pytest -n auto

conformance: setup ## the suite that pins the simulator, also against KUBEBUILDER_ASSETS or KUBECONFIG if set: it writes to that cluster
	$(BIN)/pytest tests/conformance -n auto

bench: setup ## every row of docs/benchmarks.md, one JSON object to a line; takes an hour
	@while read -r row; do $(BIN)/joiner bench $$row --format json || exit; done < benchmarks/rows.txt
	@for found in build/bench/*/; do $(BIN)/python -m benchmarks.recompute_bound $$found; done

verify: lint types imports protos manifests ## every check that needs no test run; goes on with -k

presubmit: verify test ## exactly what CI runs

lint: setup ## format and style of the code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror kernel/src/*

types: setup ## strict types
	$(BIN)/mypy

imports: setup ## who may import whom
	$(BIN)/lint-imports --no-logo

protos: setup ## contracts: style, nothing broken since main, gen/ is what proto/ says
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code proto
	.ci/breaking $(BIN)/buf
	$(call generate,build/gen)
	diff -r -x __pycache__ gen build/gen || { echo 'gen/ is not what proto/ says: make proto'; exit 1; }

manifests: setup ## overlays built and checked, compose, workflow, settings
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/pytest -q -p no:cacheprovider tests/unit/deploy

fmt: setup ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i kernel/src/*
	$(BIN)/buf format --write proto

proto: setup ## regenerate gen/ from proto/
	$(call generate,gen)

up: ## everything in containers, against the simulator
	docker compose up --build --detach --wait

down: ## stop what `make up` started
	docker compose down

define generate
rm -rf $(1)/joiner && mkdir -p $(1)
$(BIN)/python -m grpc_tools.protoc -Iproto --python_out=$(1) --grpc_python_out=$(1) \
  --mypy_out=quiet:$(1) --mypy_grpc_out=quiet:$(1) --plugin=protoc-gen-mypy=$(BIN)/protoc-gen-mypy \
  --plugin=protoc-gen-mypy_grpc=$(BIN)/protoc-gen-mypy_grpc $$(find proto -name '*.proto' | sort)
endef
