"""What all tests share: hypothesis measures no time, because these machines are shared and noisy."""

from hypothesis import settings

settings.register_profile("plimsoll", deadline=None)
settings.load_profile("plimsoll")
