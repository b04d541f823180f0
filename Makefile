# Two commands do it all: `make lab` to learn, `make test` to test.
# Written for GNU Make 3.81 or newer and any POSIX shell.

VENV = .venv
PYTHON =
ARGS =
EDITION =
run = "$(VENV)/bin/python" -m

.DEFAULT_GOAL = help
.PHONY: help lab test lint grade class update exercises bench pages model mutants zoo site serving constraints core-environment class-environment model-environment translation-environment site-environment test-environment

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'ARGS="..."   is handed on:  make lab ARGS=--no-browser   make test ARGS="-k rope"'
	@echo 'EDITION=zh   is the Chinese edition:  make lab EDITION=zh   make grade EDITION=zh'
	@echo 'PYTHON=...   chooses the Python that .venv is made with:  make lab PYTHON=python3.12'

lab: $(if $(EDITION),translation,core)-environment ## open the course in JupyterLab
	@$(if $(EDITION),$(run) tools.translation $(EDITION))
	@PATH="$$(cd "$(VENV)/bin" && pwd):$$PATH" \
	JUPYTER_CONFIG_PATH="$(CURDIR)/.jupyter$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}" \
	$(run) jupyterlab --ServerApp.root_dir="$(CURDIR)" \
	  $(if $(EDITION),--LabApp.default_url=/lab/tree/$(EDITION)/notebooks/00_start_here.ipynb) $(ARGS)

model: model-environment ## bring the released models of lessons 04 and 16 (177 MB, once): ARGS=minilm or smollm2 for one
	@"$(VENV)/bin/python" -m course_lab.released $(ARGS)

test: lint ## run every test
	@$(run) pytest --nbval --nbval-current-env --nbval-cell-timeout=600 \
	  $(if $(findstring -k,$(ARGS)),-n 0,-n auto --dist loadfile) --durations=10 -rs $(ARGS)

lint: test-environment ## check style and types only
	@$(run) ruff check --quiet --output-format concise
	@$(run) ruff format --check --quiet
	@$(run) mypy

grade: core-environment ## grade your exercises
	@"$(VENV)/bin/course" grade $(if $(EDITION),--exercises $(EDITION)/exercises) $(ARGS)

class: class-environment ## grade a class: make class ARGS="SUBMISSIONS --out RESULTS"
	@"$(VENV)/bin/course" grade-class $(ARGS)

update: core-environment ## bring a newer release, and carry your answers over
	@"$(VENV)/bin/course" update $(ARGS)

serving: test-environment ## run engines' own code on recipes of a stretch, write docs/serving.md (380 MB)
	@$(run) tools.serving $(ARGS)

exercises: core-environment ## make the exercises from the solutions
	@"$(VENV)/bin/course" exercises $(ARGS)

bench: test-environment ## measure what every encoding costs (minutes), write docs/benchmarks.md
	@$(run) tools.pages benchmarks $(ARGS)

pages: core-environment ## write a page of docs/: ARGS=claims, findings or results
	@$(run) tools.pages $(ARGS)

mutants: test-environment ## change every solution a little, and see which changes the checks let pass
	@"$(VENV)/bin/python" tests/grading/mutants.py $(ARGS)

zoo: core-environment ## train and measure every scheme again (hours), going on where it was stopped
	@"$(VENV)/bin/course" measure zoo $(ARGS)
	@$(run) tools.pages results

site: site-environment ## build the web pages into site/, and with ARGS=serve show them
	@"$(VENV)/bin/python" tools/site/build.py $(ARGS)

constraints: core-environment ## write constraints.txt anew, with the newest versions
	@"$(VENV)/bin/python" tools/constraints.py $(ARGS)

core-environment:
	@VENV="$(VENV)" PYTHON="$(PYTHON)" sh tools/setup.sh core

class-environment:
	@VENV="$(VENV)" PYTHON="$(PYTHON)" sh tools/setup.sh class

model-environment:
	@VENV="$(VENV)" PYTHON="$(PYTHON)" sh tools/setup.sh model $(ARGS)

translation-environment:
	@VENV="$(VENV)" PYTHON="$(PYTHON)" sh tools/setup.sh translation

site-environment:
	@VENV="$(VENV)" PYTHON="$(PYTHON)" sh tools/setup.sh site

test-environment:
	@VENV="$(VENV)" PYTHON="$(PYTHON)" sh tools/setup.sh test
