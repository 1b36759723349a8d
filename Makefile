# Everything bootstraps itself from python3 (3.11 or newer, with venv), make and the package registry.
PYTHON ?= python3
UV_VERSION := 0.13.8
BIN := .venv/bin
RUN := $(BIN)/uv run --locked --no-sync
# Tests run on the environment's Python. Where this one is present too (the Lambdas run it), SMOKE runs there as well, and
# before a release all that may show something new: not what the machine does (fio, loop devices) nor whole commands.
ALSO := 3.13
SMOKE := tests/unit/domain tests/contract/test_ports.py tests/functions/test_imports.py tests/packaging/test_contents.py
ALSO_PYTHON ?= $(firstword $(foreach one,python$(ALSO) $(wildcard $(HOME)/.pyenv/versions/$(ALSO)*/bin/python$(ALSO)),\
  $(shell $(one) -c 'import sys; print(sys.executable)' 2>/dev/null)))
# Only traffic to this machine: nothing of the caller's account may leak into the demo or the tests.
CLEAN_ENV := env -u AWS_PROFILE -u AWS_ENDPOINT_URL AWS_EC2_METADATA_DISABLED=true

# The environment of some containers has Python compile every module in every process anew: over half of what the tests
# cost, which start hundreds.
unexport PYTHONDONTWRITEBYTECODE

# Tests of whole machines and commands, and those that need something of this machine, wait more than they compute (for
# processes, fio, a browser): four at once are soonest done. Of the others two are, and one takes over what the other has
# not begun.
WAIT_HERE := tests/machines tests/pipelines tests/faults
COMPUTING := -n 2 --dist worksteal -m
WAITING := -n 4 --dist loadfile --no-loadscope-reorder -m
# The longest first, so that no other ends before it; then by their names alone: so files that compute stand between
# those that wait.
LONGEST := $(addprefix tests/pipelines/,test_validate.py test_validate_faults.py test_simulate.py)
WAITS := $(LONGEST) $(shell (find $(WAIT_HERE) -name 'test_*.py'; grep -rlF mark.needs tests --include='test_*.py') | \
  awk -F/ '{ print $$NF, $$0 }' | sort -u | cut -d' ' -f2)

# The stacks of the service; the member roles are for other accounts, by StackSet.
STACKS ?= data audit validation $(if $(filter true 1,$(PLIMSOLL_DEPLOY_WITH_PROBE)),probe) $(if $(filter true 1,$(PLIMSOLL_DEPLOY_WITH_CHANGES)),change) $(if $(PLIMSOLL_DEPLOY_SLACK__CHANNEL),slack)
# More for CDK's command line, such as CDK='--profile storage -c stage=trial'.
CDK ?=

# What some tests need besides Python, as command:package of Debian's; the demo needs fio alone.
TOOLS := fio:fio shellcheck:shellcheck mkfs.xfs:xfsprogs chromium:chromium
demo: TOOLS := fio:fio

PROFILE := push
WITH_PROFILE = PLIMSOLL_TESTS_PROFILE=$(PROFILE) $(CLEAN_ENV)

ifneq ($(ALSO_PYTHON),)
ALSO_READY := .venv-$(ALSO)/.ready
on_the_other = PLIMSOLL_TESTS_PROFILE=$1 $(CLEAN_ENV) .venv-$(ALSO)/bin/python -m pytest $(COMPUTING) "$2" $3
else
on_the_other = @echo "== Python $(ALSO) is not here: tested on $$($(BIN)/python -V) alone"
endif
ON_THE_OTHER_push = $(call on_the_other,smoke,not needs,$(SMOKE))
ON_THE_OTHER_all = $(call on_the_other,push,not needs and not once)

.PHONY: demo test test-all test-computing test-waiting test-on-the-other lint format backtest bench bench-quick scale faults mutants changes settings synth deploy e2e pictures screenshots clean tools promtool checkov

.venv/.ready: pyproject.toml uv.lock Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Plimsoll needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || \
	  { echo "python3 has no venv module: install it (Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv sync --locked --quiet
	@touch $@

tools: ## fio and the like, where this may install them; tests that need them are skipped otherwise
	@missing=""; for tool in $(TOOLS); do command -v $${tool%:*} > /dev/null || missing="$$missing $${tool#*:}"; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  apt-get update -qq > /dev/null; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing > /dev/null || \
	  echo "could not install$$missing" >&2; \
	elif [ -n "$$missing" ]; then echo "not installed, and what needs it is skipped:$$missing" >&2; fi

# Taken out of its package, whose installation would begin a server.
promtool: .venv/.ready
	@command -v promtool > /dev/null || test -x $(BIN)/promtool || { place=$$(mktemp -d); \
	  get="cd $$place && apt-get download -qq prometheus && dpkg-deb -x *.deb ."; \
	  { sh -c "$$get" || { apt-get update -qq; sh -c "$$get"; }; } > /dev/null 2>&1; \
	  cp "$$place/usr/bin/promtool" $(BIN)/ 2> /dev/null || echo "not to be had, and what needs it is skipped: promtool" >&2; \
	  rm -rf "$$place"; }

# In an environment of its own: it brings 90 distributions, some of them older than ours.
CHECKOV_VERSION := 3.3.30
checkov: .venv/.ready
	@command -v checkov > /dev/null || test -x .venv-checkov/bin/checkov || { $(BIN)/uv venv --quiet --clear .venv-checkov && \
	  $(BIN)/uv pip install --quiet --python .venv-checkov/bin/python checkov==$(CHECKOV_VERSION); } || \
	  echo "not to be had, and what needs it is skipped: checkov" >&2

demo: .venv/.ready tools ## audit a simulated organization without AWS, measure with fio, change in simulated time (three minutes)
	@$(CLEAN_ENV) $(RUN) plimsoll demo

# Each is a run of its own, and `make --jobs` has them at once: what waits leaves a processor to what computes.
TESTS := test-computing test-waiting test-on-the-other

test: $(TESTS) ## what a change must pass; a smoke test on the other Python, where it is here

test-all: PROFILE := all
test-all: $(TESTS) ## before a release: every test, with many examples (CONTRIBUTING says what it adds)

$(TESTS): .venv/.ready

test-computing:
	$(WITH_PROFILE) $(RUN) pytest $(COMPUTING) "not waits" $(WAIT_HERE:%=--ignore=%)

# What computes needs none of these, and is under way while they are installed.
test-waiting: tools promtool $(if $(filter test-all,$(MAKECMDGOALS)),checkov)
	$(if $(filter tests/unit/%,$(WAITS)),,$(error the tests that wait were not found, so they would not run))
	$(WITH_PROFILE) $(RUN) pytest $(WAITING) waits $(WAITS)

test-on-the-other: $(ALSO_READY) | test-computing
	$(ON_THE_OTHER_$(PROFILE))

.venv-$(ALSO)/.ready: .venv/.ready
	UV_PROJECT_ENVIRONMENT=.venv-$(ALSO) $(BIN)/uv sync --locked --quiet --python $(ALSO_PYTHON)
	@touch $@

lint: .venv/.ready ## style, types and the direction of imports
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(RUN) lint-imports

backtest: .venv/.ready ## how often sizes of past weeks were outgrown, of the shipped fleets, into benchmarks/fleets/README.md (two minutes)
	$(CLEAN_ENV) $(RUN) python benchmarks/fleets/figures.py

# QUESTIONS="a d" measures some of them.
bench: .venv/.ready ## how fast Plimsoll is and what it costs, into benchmarks/speed/README.md (a quarter of an hour)
	$(BIN)/uv sync --locked --quiet
	$(CLEAN_ENV) $(RUN) python benchmarks/speed/run.py $(QUESTIONS)

# SHARE=0.1 audits a tenth. With CALLED=12 functions are called for so many accounts, and what the others come to is
# copied from them. It needs root, and control groups and loop devices that it may make.
SHARE ?= 1
scale: .venv/.ready ## the deployed audit of 17,000 targets and a million volumes, within Lambda's limits (benchmarks/scale/README.md)
	$(CLEAN_ENV) $(RUN) python -m benchmarks.scale --share $(SHARE) $(if $(CALLED),--called $(CALLED))

# AGAINST is a commit or a wheel.
bench-quick: .venv/.ready ## what a change to reading or deciding quotes, in seconds of CPU (under two minutes)
	$(CLEAN_ENV) $(RUN) python benchmarks/speed/quick.py $(AGAINST)

# 2,000 seeds took 71 minutes beside other work. `make faults SEEDS=1 FROM=1234` tries one again and writes no page.
SEEDS ?= 2000
FROM ?= 0
JOBS ?= 2
faults: .venv/.ready ## audits under seeded faults, and what became of every volume, into tests/faults/README.md
	$(CLEAN_ENV) $(RUN) python -m tests.faults --seeds $(SEEDS) --from $(FROM) --jobs $(JOBS) $(if $(filter 2000,$(SEEDS)),--write)

# 400 mutants took 70 minutes beside other work. Cosmic Ray is beside the environment for this run alone.
COSMIC_RAY_VERSION := 8.7.0
MUTANTS ?= 400
mutants: .venv/.ready ## which tests find a fault that chance puts into the rule (tests/mutants/README.md; an hour)
	$(CLEAN_ENV) $(BIN)/uv run --locked --no-sync --with cosmic-ray==$(COSMIC_RAY_VERSION) \
	  python -m tests.mutants --mutants $(MUTANTS) --jobs $(JOBS)

# Ten splits of machines took a quarter of an hour on one core.
changes: .venv/.ready ## how often verdicts on changes are wrong, into tests/changes/README.md, and the thresholds that ship (a quarter of an hour)
	$(CLEAN_ENV) $(RUN) python -m tests.changes --write

settings: .venv/.ready ## every setting of the deployed service, with its default and what it is
	@$(RUN) python -m infra.list_settings

synth: .venv/.ready ## the templates of the deployed service, into cdk.out, as PLIMSOLL_DEPLOY_* say (docs/deploy.md)
	$(RUN) python -m infra.cdk synth --quiet $(CDK)

deploy: .venv/.ready ## the service into the account of the caller's credentials; CDK='-c key=value' for settings
	$(RUN) python -m infra.cdk deploy $(STACKS) $(CDK)

# The emulator has an environment of its own, on the Lambdas' Python where that is here.
.venv-e2e/.ready: tests/e2e/requirements.txt .venv/.ready
	$(BIN)/uv venv --quiet --clear --python $(or $(ALSO_PYTHON),$(BIN)/python) .venv-e2e
	$(BIN)/uv pip install --quiet --python .venv-e2e/bin/python --require-hashes --requirements $<
	@touch $@

# Other partitions have no emulator: their templates are synthesized and linted.
e2e: .venv-e2e/.ready ## the synthesized templates and zips on an emulator of AWS, against the command line (docs/deploy.md)
	PLIMSOLL_TESTS_PROFILE=all PLIMSOLL_E2E_PYTHON=$(CURDIR)/.venv-e2e/bin/python $(CLEAN_ENV) $(RUN) pytest tests/e2e \
	  tests/infra/test_deployed_region.py

pictures: .venv/.ready ## draw docs/charts anew, and what report.html draws with; where nothing changed, to the same bytes
	$(RUN) python -m tests.unit.reports.html.vega_files
	$(RUN) python -m docs.charts.draw

screenshots: .venv/.ready tools ## docs/*.png, the reports as the README shows them, of the demo's run
	$(RUN) python -m tests.browser.screenshots plimsoll-runs/demo

format: .venv/.ready ## rewrite the code in the project's style
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

clean: ## remove what make has made
	rm -rf .venv .venv-* build .mypy_cache .pytest_cache .ruff_cache .hypothesis
