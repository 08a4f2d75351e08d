"""Nets and runs to look at: the page of `lpn viz` (page), pictures (image), files of other tools
(export, pnml).
"""
