"""English words that hold a sentence together and say nothing of what it is about.

Folded as terms are. How rare a word is does not tell: in a wiki of several languages the articles of
each are rare. Lists of other languages did not earn their place.
"""

from __future__ import annotations

_ENGLISH = """
a about an and are as at be been being but by can could did do does for from had has have how i
if in into is it its may me might must my no not of on or our shall should so such than that the
their them then there these they this those to was we were what when where which who whom whose why
will with would you your
"""
FUNCTION_WORDS = frozenset(_ENGLISH.split())
