"""One thread for each process: pytest runs two at a time, and idle threads of one would slow the
other down. Kernels inherit it."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
