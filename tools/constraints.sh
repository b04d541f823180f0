#!/bin/sh
# Write constraints.txt anew: the newest versions that pyproject.toml admits, all but
# torch, which keeps its pin unless another is asked for: TORCH=2.14.0 make constraints
# Run it with Python 3.11, the oldest that the course supports: newer ones take the same versions.
set -eu

TORCH=${TORCH:-$(sed -n 's/^torch==//p' constraints.txt)}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

"${PYTHON:-python3.11}" -m venv "$room/venv"
"$room/venv/bin/python" -m pip install --quiet --upgrade setuptools
"$room/venv/bin/python" -m pip install --quiet --no-build-isolation "torch==$TORCH" -e '.[test]'

# Left out: what torch's CUDA build brings along in versions of its own choice.
# Added: what only macOS asks for, if this is another system.
{
    "$room/venv/bin/python" -m pip freeze --all --exclude pip --exclude-editable |
        sed 's/+.*$//' | grep -v -E '^(cuda-|nvidia-|triton==)'
    echo 'appnope==0.1.4'
} | sort -f -u >"$room/pins"

cat - "$room/pins" >"$room/constraints.txt" <<'END'
# The exact versions that the course is tested with: all that `make lab` and `make test`
# install, nothing more. pyproject.toml holds the ranges. Made by `make constraints`.
END
cp "$room/constraints.txt" constraints.txt
