"""The studio: a local page on which a spec is chosen by looking. Its one product is the spec file.

    synthetic < edits | doors < choices | wishes | taking | accuracy | values
              < facts | drawing | replies | revisions | spec_file
              < finding | levels | beside | releasing < workbench < pages < panels < choosing
              < server < running

What is shown is computed by the library from the text of the spec; what is changed is changed in
that text; and what is released is shown and asked for first. In a notebook there is `panel`.
"""

from perrecord.studio.notebook import panel

__all__ = ["panel"]
