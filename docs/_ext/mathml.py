"""Formulas as MathML, which browsers draw by themselves: no script, no font from the network, no
LaTeX on this machine."""

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number


def converted(text, node, block=False):
    try:
        # which browsers draw into the letter
        return tex2mathml(text, as_block=block).replace(' accent="true"', "")
    except MathError as error:
        raise ExtensionError(
            f"{node.source}:{node.line}: no MathML for {text!r}: {error}"
        ) from None


def inline(writer, node):
    writer.body.append(converted(node.astext(), node))
    raise SkipNode


def block(writer, node):
    """A displayed formula, one for each paragraph, with its number if it has a label."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    for part in filter(None, map(str.strip, node.astext().split("\n\n"))):
        lines = r"\begin" not in part and ("&" in part or r"\\" in part)
        writer.body.append(
            converted(
                rf"\begin{{aligned}}{part}\end{{aligned}}" if lines else part, node, block=True
            )
        )
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append("</div>\n")
    raise SkipNode


def setup(app):
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline, None), block_renderers=(block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
