"""Wrong answers that a check once accepted, or might: each must be refused. A file a subject.

They are kept apart from a spec's named mistakes, since few people make them; what matters is that
none gets points.
"""

from importlib import import_module
from pathlib import Path

REFUSED = {}
for path in sorted(Path(__file__).parent.glob("refused_*.py")):
    REFUSED |= import_module(path.stem).REFUSED
