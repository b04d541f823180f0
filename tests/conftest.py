"""For all tests.

One thread for each process: pytest runs two at a time, and idle threads of one would slow the
other down. Kernels inherit it. What hypothesis remembers lies in the environment, not in the
checkout.
"""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(sys.prefix, "hypothesis"))
