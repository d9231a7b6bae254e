# The front door: `make help` lists every verb. Everything runs from .venv, made by `make setup`.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
PROTOS = $(shell find proto -name '*.proto')

.DEFAULT_GOAL := help
.PHONY: help setup run test verify fmt proto

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: .venv/.ready ## environment, locked dependencies, the CLI at .venv/bin/joiner

.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Joiner needs Python 3.11 or later; name one with PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "this Python has no venv; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

test: setup ## unit, scenario, contract and integration tests: parallel, random order
	$(BIN)/pytest -n auto

fmt: setup ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/buf format --write proto

proto: setup ## regenerate gen/ from proto/
	rm -rf gen/joiner && mkdir -p gen
	$(BIN)/python -m grpc_tools.protoc -Iproto --python_out=gen --grpc_python_out=gen \
	  --mypy_out=gen --mypy_grpc_out=gen --plugin=protoc-gen-mypy=$(BIN)/protoc-gen-mypy \
	  --plugin=protoc-gen-mypy_grpc=$(BIN)/protoc-gen-mypy_grpc $(PROTOS)
