# Needs Python 3.11 or newer with venv, and make. Everything else is in requirements.txt.

SHELL := /bin/sh
# A process starts a third slower if its modules are not compiled, and tests start hundreds of
# processes.
unexport PYTHONDONTWRITEBYTECODE
PY := .venv/bin/python
CATALOGUES := $(wildcard locale/*/LC_MESSAGES/django.po)

VAR_IS_OURS := test ! -e var || test -w var || \
	{ echo "var/ belongs to $$(stat -c %U var): do this as that user, or as root" >&2; exit 1; }

.PHONY: help run test test-all check lint reset bench attack drill hosts image roads format messages clauses guards release screenshots
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

run: .venv/installed .venv/texts ## open the house: http://localhost:8000/ (PORT= chooses another port)
	@$(VAR_IS_OURS)
	@SABOT_DEMO="$${SABOT_DEMO-1}" exec $(PY) manage.py run --with-parent

test: .venv/installed-dev .venv/texts ## every test, with servers of its own and real Chromium
	@tools/get_chromium.sh
	@tools/get_namespaces.sh
	$(PY) -m pytest -n 4 --dist loadfile --no-loadscope-reorder $(PYTEST)

test-all: ## the tests with every parameter: all pages, sizes, themes, languages, roles and engines of browsers, long drills
	@tools/get_engines.sh
	@$(MAKE) --no-print-directory test PYTEST="--sweep $(PYTEST)"

check: lint test ## format, lint, secrets, English, types, layers, migrations, production settings, texts, then every test

lint: .venv/installed-dev .venv/texts ## everything in check but the tests
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	.venv/bin/oxfmt --check static/js
	.venv/bin/oxlint --deny-warnings static/js
	$(PY) tools/find_secrets.py
	$(PY) tools/check_english.py
	$(PY) -m mypy .
	.venv/bin/lint-imports
	tools/on_production_settings.sh makemigrations --check --dry-run
	$(PY) -m tools.check_migrations
	tools/on_production_settings.sh check --deploy --fail-level WARNING
	$(PY) manage.py check_messages

reset: .venv/installed .venv/texts ## throw var/ away, after asking (YES=1 answers)
	@$(VAR_IS_OURS)
	@$(PY) manage.py reset $(if $(YES),--yes)

bench: .venv/installed-dev .venv/texts ## measure, on a database of its own
	$(PY) -m bench

attack: .venv/installed-dev .venv/texts ## the wallet against its model, for long (EXAMPLES= says how long)
	SABOT_ATTACK=$(or $(EXAMPLES),300) $(PY) -m pytest tests/wallet/test_machine.py

drill: .venv/installed-dev .venv/texts ## hurt every part of a house while people play and pay (SEED=, MINUTES=, ROUNDS=)
	@tools/get_chromium.sh
	$(PY) -m tests.drill $(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ROUNDS),--rounds $(ROUNDS))

hosts: .venv/installed-dev .venv/texts ## machines of a house on many disappear while people play; as root, of network namespaces
	@tools/get_namespaces.sh
	$(PY) -m tests.hosts

image: ## the image of deploy/Containerfile where no registry of images is to be reached; as root, with buildah
	deploy/image.sh

roads: .venv/installed-dev .venv/texts ## the roads of ten thousand shoes against another's program (SHOES= says how many)
	@tools/get_chromium.sh
	SABOT_ROADS=$(or $(SHOES),10000) $(PY) -m pytest tests/browser/test_roads.py

screenshots: .venv/installed-dev .venv/texts ## every page at two widths, dark and light, into var/screenshots/
	@tools/get_chromium.sh
	$(PY) -m tools.screenshots

format: .venv/installed-dev .venv/texts ## put the code in shape
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .
	.venv/bin/oxlint --fix static/js
	.venv/bin/oxfmt static/js

messages: .venv/installed-dev .venv/texts ## bring the catalogues of texts up to date
	$(PY) manage.py messages

clauses: .venv/installed-dev ## write docs/gli-19.md from tests/clauses/
	$(PY) -m tests.clauses

release: .venv/installed-dev ## write and sign RELEASE: the digests of all files (KEY= is the private key's file)
	@DJANGO_SETTINGS_MODULE=tests.settings $(PY) -m tools.make_release $(KEY)

guards: .venv/installed-dev ## write wallet/guards.txt and docs/database-functions.md, from a database of their own
	DJANGO_SETTINGS_MODULE=tests.settings $(PY) -m tests.harness.list_guards

# Stamps: each is newer than its sources.

.venv/made:
	@tools/make_venv.sh

.venv/installed: requirements.txt .venv/made
	@echo "Installing requirements.txt (once; about a minute) …"
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "Installing requirements-dev.txt (once) …"
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

.venv/texts: .venv/installed $(CATALOGUES)
	@$(PY) manage.py compile_messages >/dev/null
	@touch $@
