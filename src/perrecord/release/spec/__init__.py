"""The release spec: a YAML file that says what is published of which table, at what price.

`read` turns YAML into values with their lines; `scalars`, `models` and `questions` say what may
stand in it; `explain`, `checks`, `query_checks` and `answer_checks` say what is wrong with it;
`load` puts these together. `tables`, `pieces`, `queries` and `build` make a table and a workload
of it; `advice` gives hints; `template` writes one to start from. The guide is docs/spec.md.
"""

from perrecord.release.spec.advice import warnings_of
from perrecord.release.spec.build import NamedQuery, Workload, build, check_without_data
from perrecord.release.spec.labels import CodeList
from perrecord.release.spec.load import LoadedSpec, load_spec, parse_spec, spec_schema
from perrecord.release.spec.models import Spec
from perrecord.release.spec.tables import open_table
from perrecord.release.spec.template import template

__all__ = [
    "CodeList",
    "LoadedSpec",
    "NamedQuery",
    "Spec",
    "Workload",
    "build",
    "check_without_data",
    "load_spec",
    "open_table",
    "parse_spec",
    "spec_schema",
    "template",
    "warnings_of",
]
