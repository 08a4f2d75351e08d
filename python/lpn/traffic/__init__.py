"""Open-loop traffic: requests that come when they come, whatever became of those before them.

Tools import from here: `from lpn.traffic import Traffic`.
"""

from .processes import bursts, choice, exponential, periodic, poisson, uniform
from .traffic import Traffic

__all__ = ["Traffic", "bursts", "choice", "exponential", "periodic", "poisson", "uniform"]
