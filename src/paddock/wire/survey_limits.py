"""Limits of surveys of the radio: the operations and `paddock.radio.links.survey` check the same ones."""

FARTHEST = 1e6  # m: centre of a coverage, along x and y
SMALLEST, LARGEST = 1.0, 1e6  # m: side of its square
MOST_VALUES = 160  # per side of it, at least 2
LOWEST, HIGHEST = -1e4, 1e5  # m above the ground
NARROWEST, WIDEST = 1.0, 1e11  # Hz of a spectrum
MOST_BINS = 512  # of a spectrum, at least 2
MOST_PLACES = 10_000  # whose levels one request asks for
MOST_BIDDERS, MOST_BIDS = 200, 1000  # vehicles and tasks of an assignment over radio
SHORTEST, LONGEST = 1e-3, 3600.0  # s: a round of it
MOST_ROUNDS = 10_000
