"""A Sphinx extension: docstrings may write |x| for a length, which is markup to Sphinx."""


def escape_bars(app, what, name, obj, options, lines):
    """Put a backslash before every bar that is not inside code."""
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or example and bool(line.strip())
        if not example:
            parts = line.split("``")  # every second part is code
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[i] = "``".join(parts)


def setup(app):
    app.connect("autodoc-process-docstring", escape_bars)
    return {"parallel_read_safe": True}
