#!/usr/bin/env python3
"""Writes network.safetensors, the weights of the filter `network`: python3 make_network.py network.safetensors

Nothing was trained: the weights are worked out below, layer by layer, to turn a picture into ink and watercolour. Each
layer is a 3x3 convolution, a bias and a relu; filters are [height, width, in, out].
  1. lines_and_colours, 3 -> 12: differences of brightness in four directions, each once with either sign (for relu cuts
     off one half of each), and the three colours, a little smoothed; the last one is empty, for kernels like multiples of four.
  2. ink, 12 -> 4: all the differences together, smoothed, and only what is above a threshold; the colours again.
  3. picture, 4 -> 4: the colours, stronger and lighter, as paint on paper; less the ink. The last one is empty again.
"""
import json
import struct
import sys

SMOOTH = [[1 / 16, 2 / 16, 1 / 16], [2 / 16, 4 / 16, 2 / 16], [1 / 16, 2 / 16, 1 / 16]]
POINT = [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
DIRECTIONS = [  # Prewitt's and its diagonals
    [[-1, 0, 1], [-1, 0, 1], [-1, 0, 1]],
    [[-1, -1, -1], [0, 0, 0], [1, 1, 1]],
    [[0, 1, 1], [-1, 0, 1], [-1, -1, 0]],
    [[1, 1, 0], [1, 0, -1], [0, -1, -1]],
]
BRIGHTNESS = [0.30, 0.59, 0.11]


def layer(name, channels_in, channels_out, weight, bias):
    """weight(y, x, i, o) and bias(o) as the tensors of a layer"""
    values = [weight(y, x, i, o) for y in range(3) for x in range(3) for i in range(channels_in) for o in range(channels_out)]
    return {
        name + ".weight": ([3, 3, channels_in, channels_out], values),
        name + ".bias": ([channels_out], [bias(o) for o in range(channels_out)]),
    }


def lines_and_colours(y, x, i, o):
    if o < 8:
        return DIRECTIONS[o // 2][y][x] * BRIGHTNESS[i] / 3 * (1 if o % 2 else -1)
    return SMOOTH[y][x] if o - 8 == i else 0


def ink(y, x, i, o):
    if o == 0:
        return 0.6 * SMOOTH[y][x] if i < 8 else 0
    return SMOOTH[y][x] if i - 8 == o - 1 else 0


# Each colour less the mean of all is how strong it is; 0.15 of white lies below.
STRONGER, LIGHTER, PAPER = 1.5, 0.80, 0.17


def picture(y, x, i, o):
    if o == 3:
        return 0
    if i == 0:
        return -1.3 * POINT[y][x]
    mean = LIGHTER * (1 - STRONGER) / 3
    return POINT[y][x] * (mean + (LIGHTER * STRONGER if i - 1 == o else 0))


def save(path, tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


save(
    sys.argv[1],
    {
        **layer("lines_and_colours", 3, 12, lines_and_colours, lambda o: 0),
        **layer("ink", 12, 4, ink, lambda o: -0.05 if o == 0 else 0),
        **layer("picture", 4, 4, picture, lambda o: PAPER),
    },
    {"made_by": "samples/video_filter/make_network.py"},
)
