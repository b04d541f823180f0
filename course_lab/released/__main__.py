"""`python -m course_lab.released [NAME]`: which released models are here, and whether whole."""

import sys

from course_lab.released.installed import SOURCES, Source, check, installed
from course_lib.errors import CourseError


def show(source: Source) -> bool:
    """Print what was installed, or one line on what is wrong."""
    try:
        path = installed(source)
        check(path, source)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return False
    print(f"{source.title} is here ({path.stat().st_size / 1e6:.0f} MB, {source.licence}):")
    print(f"  {path}")
    print(f"any other copy of this {source.file} would do")
    return True


def main(names: list[str]) -> int:
    """Look at the models with these names; at all of them if there are none."""
    if unknown := set(names) - set(SOURCES):
        print(f"there is no model {unknown.pop()!r}, only {', '.join(SOURCES)}", file=sys.stderr)
        return 1
    return 0 if all([show(SOURCES[name]) for name in names or SOURCES]) else 1


sys.exit(main(sys.argv[1:]))
