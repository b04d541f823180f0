"""`python -m course_lab.released`: what the released model is, and whether it is whole."""

import sys

from course_lab.released.installed import FILE, LICENCE, check, installed
from course_lib.errors import CourseError


def main() -> int:
    """Print what was installed, or one line on what is wrong."""
    try:
        path = installed()
        check(path)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"SmolLM2-135M-Instruct is here ({path.stat().st_size / 1e6:.0f} MB, {LICENCE}):")
    print(f"  {path}")
    print(f"any other copy of {FILE} would do")
    return 0


sys.exit(main())
