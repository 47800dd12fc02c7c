"""Models raised on known diets: what does text leave unsaid, and does seeing teach it?

A world whose truth is known, texts that leave things unsaid to a known degree, pictures that show
them, small models raised on each diet, and the same questions to all of them.
"""
