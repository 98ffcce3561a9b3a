"""A Sphinx extension: the picture that messengers show beside a link to the book.

Training images of the last chapter's model, as read from its labels (experiments/mnist_images.npz).
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

CARD = "_static/card.png"
ROWS, COLUMNS = 3, 8


def draw_card(images, title, says):
    """A figure of 1200 x 630 pixels: the title, a sentence, and rows of images."""
    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    figure.text(0.05, 0.86, title, fontsize=40, fontweight="bold")
    figure.text(0.05, 0.76, says, fontsize=22, color="#444444")
    for i, image in enumerate(images[:ROWS * COLUMNS]):
        row, column = divmod(i, COLUMNS)
        axes = figure.add_axes((0.05 + column * 0.1125, 0.49 - row * 0.21, 0.105, 0.2))
        axes.imshow(image.reshape(28, 28), cmap="gray_r")
        axes.set_axis_off()
    return figure


def write(app):
    """Write the picture into the built site."""
    if app.builder.format != "html":
        return
    with np.load(Path(app.srcdir) / "experiments/mnist_images.npz") as stored:
        images = stored["recovered_1000"]
    (app.outdir / CARD).parent.mkdir(parents=True, exist_ok=True)
    draw_card(images, app.config.project,
              "Training images, read from a classifier that answers yes or no").savefig(
                  app.outdir / CARD)


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
