"""Charts made visible: as Mermaid text, as SVG, in a terminal."""
