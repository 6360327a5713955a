"""Another implementation of JSON Patch, for the tests to compare with.

Reads a line of JSON for each case: {"base", "next", "ours", "steps"}. Answers with a line: what
"ours" and "steps" make of "base", and a patch of its own from "base" to "next" with what that makes
of "base". Where it fails, the answer has null, and a result is in a list of one, so that a null
document is no failure.
"""

import json
import sys

try:
    import jsonpatch
except ImportError:
    sys.exit("json_patch_peer.py needs jsonpatch: pip install jsonpatch")


def attempt(work):
    try:
        return [work()]
    except Exception:
        return None


def answer(case):
    def result(patch):
        return attempt(lambda: jsonpatch.apply_patch(case["base"], patch))

    # By way of text, because applying a patch changes the values that it puts in.
    made = attempt(lambda: jsonpatch.make_patch(case["base"], case["next"]).to_string())
    return {
        "ours": result(case["ours"]),
        "steps": result(case["steps"]),
        "made": made and json.loads(made[0]),
        "madeResult": made and result(json.loads(made[0])),
    }


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))))
