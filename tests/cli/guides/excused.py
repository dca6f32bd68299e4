"""What the documents show and no test can run here, each with the reason."""

_MAKE = "It makes this very clone ready, as whoever runs the tests has done; its plan is looked at."
_WHEEL = "Its dependencies come from a registry; tests/house/test_installed.py installs the wheel."
_IMAGE = "It needs images; tests/house/test_installed.py plays the steps of the Containerfile."
_ROOT = "It changes the machine, as root; tests/house/test_installed.py reads and plays the unit."
_SYSTEMD = "It needs the user's systemd; the units are read, and what they start is run."
_MACHINES = "It needs a database and two machines; tests/machines starts such on one."

# By their words, as the pages have them.
EXCUSED = {
    "make run": _MAKE,
    "make test": _MAKE,
    "make wheel": _MAKE,
    "pipx install ./airboss-0.1.0-py3-none-any.whl": _WHEEL,
    "podman build --tag airboss --file Containerfile .": _IMAGE,
    "podman run --rm --network host --volume airboss-data:/data"
    ' --volume "$PWD":/work airboss': _IMAGE,
    "podman run --rm --publish 8443:8443 --env AIRBOSS_TOKEN --volume airboss-data:/data"
    ' --volume "$PWD":/work --volume /etc/airboss/tls:/tls:ro airboss serve --root /work'
    " --host 0.0.0.0 --port 8443 --tls-certificate /tls/cert.pem --tls-key /tls/key.pem"
    " --allow-host airboss.example.com": _IMAGE,
    "useradd --system --home-dir /srv/airboss --create-home airboss": _ROOT,
    "python3 -m venv /opt/airboss/venv": _ROOT,
    "/opt/airboss/venv/bin/python -m pip install ./airboss-0.1.0-py3-none-any.whl": _ROOT,
    "AIRBOSS_CACHE=/opt/airboss/cache /opt/airboss/venv/bin/airboss setup": _ROOT,
    "cp deploy/airboss.service /etc/systemd/system/": _ROOT,
    "systemctl enable --now airboss": _ROOT,
    "journalctl --unit airboss": _ROOT,
    "systemctl --user daemon-reload": _SYSTEMD,
    "systemctl --user enable --now airboss-nightly.timer": _SYSTEMD,
    "systemctl --user list-timers": _SYSTEMD,
    "install --mode 600 environment /etc/airboss/environment": _ROOT,
    "cp deploy/airboss-worker.service /etc/systemd/system/": _ROOT,
    "systemctl enable --now airboss-worker": _ROOT,
    "airboss serve --shared-root /srv/work": _MACHINES,
    "airboss worker --shared-root /srv/work": _MACHINES,
    "airboss worker --shared-root /srv/work --label gpu --label linux": _MACHINES,
    "airboss run train --label gpu": _MACHINES,
}

# Blocks that are no program and no output, by how they begin.
DRAWN = {
    "a person or a script": "A drawing of the layers; lint-imports checks them.",
    "run build ": "A drawing of a trace; tests/telemetry/test_traces.py reads a real one.",
    "AIRBOSS_DATABASE=postgresql://": "A variable; tests/machines starts servers with one.",
    "deliver · running · 1:12": "One moment of a run; tests/cli/run/test_tree.py draws such trees.",
}

# Pages whose blocks another test does, and how many it knows of.
ELSEWHERE = {
    "docs/tutorial.md": ("tests/cli/test_tutorial.py", 13),
    "docs/clients.md": ("tests/contract/test_clients.py", 6),
    "examples/fix-failing-tests/README.md": ("tests/contract/test_examples.py", 3),
    "examples/migrate-api/README.md": ("tests/contract/test_examples.py", 3),
    "examples/review-branch/README.md": ("tests/contract/test_examples.py", 3),
    "examples/triage-issues/README.md": ("tests/contract/test_examples.py", 3),
    "examples/upgrade-dependency/README.md": ("tests/contract/test_examples.py", 3),
    "examples/write-docs/README.md": ("tests/contract/test_examples.py", 3),
}
