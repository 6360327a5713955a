"""Merges notebooks by nbdime.

Reads lines of JSON with base, ours and theirs; writes for each a line with the merged notebook and
the number of conflicts. A notebook that nbdime cannot merge has one conflict and no merged one.
"""

import json
import logging
import sys
import warnings

import nbformat
from nbformat.v4.rwbase import split_lines
from nbdime.merging import merge_notebooks
from nbdime.nbmergeapp import _build_arg_parser

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
# What nbmerge does when it is called without options.
arguments = _build_arg_parser().parse_args(["base", "ours", "theirs"])

for line in sys.stdin:
    entry = json.loads(line)
    try:
        # In memory a source is one string, on disk a list of lines.
        versions = [
            nbformat.reads(json.dumps(entry[side]), as_version=4)
            for side in ("base", "ours", "theirs")
        ]
        merged, decisions = merge_notebooks(*versions, arguments)
        conflicts = sum(1 for decision in decisions if decision.conflict)
        answer = {"merged": split_lines(merged), "conflicts": conflicts}
    except Exception as failure:
        print(f"nbdime: {entry['path']}: {str(failure)[:100]}", file=sys.stderr)
        answer = {"conflicts": 1}
    print(json.dumps(answer))
