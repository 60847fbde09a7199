"""Figures of analyses, as a report draws them."""

import base64
import html
import os

__all__ = ["Figure", "Figures"]


class Figure:
    """A figure of an analysis: ``svg`` and ``dark_svg`` (for dark screens) are the drawing as text, ``told`` is what its
    texts say. In a notebook it shows itself, in the colours of the reader's screen.

    >>> Figure("drift", "Where sinks move.", "Drift", "<svg/>", "<svg/>").svg
    '<svg/>'
    """

    def __init__(self, name, caption, told, svg, dark_svg):
        self.name, self.caption, self.told, self.svg, self.dark_svg = name, caption, told, svg, dark_svg

    def save(self, file):
        """Writes the drawing, as SVG."""
        with open(os.fspath(file), "w", encoding="utf-8") as out:
            out.write(self.svg)

    def __repr__(self):
        return f"<buoy.Figure {self.name}: {self.told.split('. ')[0]}>"

    def _repr_html_(self):
        # The notebook's own page may be light on a dark screen: each drawing stands on its own ground.
        return ('<figure style="margin:0 0 1em 0"><picture>'
                f'<source media="(prefers-color-scheme: dark)" srcset="{_image(self.dark_svg)}">'
                f'<img alt="{html.escape(self.told)}" style="max-width:100%;border-radius:4px" src="{_image(self.svg)}"></picture>'
                f'<figcaption style="font-size:90%;max-width:60em">{html.escape(self.caption)}</figcaption></figure>')


class Figures(list):
    """Figures, by number or by name; in a notebook all of them below each other."""

    def __getitem__(self, which):
        if isinstance(which, str):
            found = [one for one in self if one.name == which]
            if not found:
                raise KeyError(f"no figure {which}; there are {', '.join(one.name for one in self)}")
            return found[0]
        return super().__getitem__(which)

    def _repr_html_(self):
        return "".join(one._repr_html_() for one in self)


def _image(svg):
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
