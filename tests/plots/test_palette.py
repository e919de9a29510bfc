"""Any two colours of series can be told apart, also by people with any of the three kinds of colour blindness."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from langdiff.plots._axes import LINES, MARKERS, SERIES

# Machado, Oliveira and Fernandes (2009), matrices of severity 1, for linear RGB
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])  # sRGB
WHITE = TO_XYZ.sum(axis=1)
LEAST_DIFFERENCE = 18  # Euclidean in CIELAB (Delta E 1976); 2.3 is just noticeable in a direct comparison
LEAST_CONTRAST = 3  # with white; what WCAG 2.2 asks for (success criterion 1.4.11)


def linear(colour):
    part = np.array(to_rgb(colour))
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    share = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    root = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def closest(colours, vision):
    seen = {colour: lab(np.array(VISIONS[vision]) @ linear(colour)) for colour in colours}
    return min(np.linalg.norm(seen[one] - seen[other]) for one, other in combinations(colours, 2))


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_of_series_can_be_told_apart(vision):
    assert closest(SERIES, vision) > LEAST_DIFFERENCE


def test_the_measure_finds_colours_that_look_alike():
    assert closest(["#ffffff", "#000000"], "normal") == pytest.approx(100)  # by definition of CIELAB
    blue_and_purple = ["#2a6f97", "#7a5195"]
    assert closest(blue_and_purple, "normal") > 30
    assert closest(blue_and_purple, "deuteranopia") < 2


def test_colours_are_seen_on_white_and_each_has_a_marker_and_a_line():
    contrasts = np.array([1.05 / (TO_XYZ[1] @ linear(colour) + 0.05) for colour in SERIES])
    assert contrasts.min() > LEAST_CONTRAST
    assert len(set(SERIES)) == len(set(MARKERS)) == len(set(LINES)) == len(SERIES)
