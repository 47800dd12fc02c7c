"""Parses against a gold standard: labelled and unlabelled brackets, as evalb counts them.

>>> gold = parse("(S (NP (DT the) (NN dog)) (VP (VBD barked)))")
>>> test = parse("(S (NP (DT the) (NN dog)) (ADJP (VBD barked)))")
>>> score(gold, test).matched, score(gold, test).unlabelled
(2, 3)
"""

from seesay.captions.parses.parameters import EvalbParameters, read_parameters
from seesay.captions.parses.parseval import MismatchError, ParseScore, parseval, score
from seesay.captions.parses.trees import BadTreeError, Bracket, ParseTree, parse, read_trees

__all__ = [
    "BadTreeError",
    "Bracket",
    "EvalbParameters",
    "MismatchError",
    "ParseScore",
    "ParseTree",
    "parse",
    "parseval",
    "read_parameters",
    "read_trees",
    "score",
]
