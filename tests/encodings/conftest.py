"""Properties are tested without a clock: a slow machine is no wrong answer."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
