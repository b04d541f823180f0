"""For all tests.

One thread for each process: pytest runs two at a time, and idle threads of one would slow the
other down. Kernels inherit it.

What hypothesis remembers lies in the environment, not in the checkout. So does Matplotlib's list
of fonts: the one in the user's home is shared by all environments, and one that is deleted while
it draws leaves a list without Matplotlib's own fonts, of which every cell then complains.

Properties are tested without a clock, as a slow machine is no wrong answer, and on the same
examples each time, so that a change is red for what it changed. For others than these:
`make test ARGS="--hypothesis-profile=others"`.
"""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(sys.prefix, "hypothesis"))
os.environ["MPLCONFIGDIR"] = os.path.join(sys.prefix, "matplotlib")

# Listed before the first kernel needs it: listing says so in a cell when it takes long.
import matplotlib.font_manager  # noqa: E402, F401
from hypothesis import settings  # noqa: E402

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("others", deadline=None)
settings.load_profile("repeatable")
