"""Captions as the COCO evaluation scores them, without Java.

BLEU, METEOR, ROUGE-L and CIDEr-D need nothing but NumPy.
"""
