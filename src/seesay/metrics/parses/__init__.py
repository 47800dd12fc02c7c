"""Parses against a gold standard: labelled and unlabelled brackets, as evalb counts them.

>>> gold = parse("(S (NP (DT the) (NN dog)) (VP (VBD barked)))")
>>> test = parse("(S (NP (DT the) (NN dog)) (ADJP (VBD barked)))")
>>> score(gold, test).matched, score(gold, test).unlabelled
(2, 3)
"""

from seesay.metrics.parses.parameters import Parameters, read_parameters
from seesay.metrics.parses.parseval import MismatchError, Score, parseval, score
from seesay.metrics.parses.trees import BadTreeError, Bracket, Tree, parse, read_trees

__all__ = [
    "BadTreeError",
    "Bracket",
    "MismatchError",
    "Parameters",
    "Score",
    "Tree",
    "parse",
    "parseval",
    "read_parameters",
    "read_trees",
    "score",
]
