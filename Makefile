# harness_ros from a fresh clone: `make demo`, `make test`. With a sourced ROS 2 the same targets use it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
JUDGE ?= deterministic
IN_ENV := source scripts/env.sh &&

.PHONY: help setup demo test bench lint clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup:  ## make the environment and build the interfaces (done by itself where needed)
	@scripts/setup.sh

demo: setup  ## physics, tools, cameras, evaluator: a live table of verdicts; SEED=n for other outcomes, JUDGE=model
	@$(IN_ENV) exec harness-ros demo --judge $(JUDGE) $(if $(SEED),--seed $(SEED)) \
		$(if $(CONFIG),--config $(CONFIG)) --out demo_out

# The pytest plugins of a sourced ROS are made for an older pytest.
test: setup  ## run all tests, two at a time; ARGS are passed to pytest (ARGS="-n 0": one after the other)
	@$(IN_ENV) PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 exec pytest -p timeout -p xdist -n 2 --dist loadfile $(ARGS)

bench: setup  ## measure: bench_out/bench.jsonl and a table; ARGS="--quick", ARGS="--only latency"
	@$(IN_ENV) exec python3 -m bench $(ARGS)

lint: setup  ## ruff and mypy
	@$(IN_ENV) ruff check . && ruff format --check . && mypy

clean:  ## remove what setup and demo made
	rm -rf .workspace demo_out bench_out
