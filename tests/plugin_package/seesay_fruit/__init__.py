"""The colors of fruit: two tasks and a model that seesay finds by their entry point."""

COLORS = {
    "red": (
        "cherry",
        "strawberry",
        "sumac",
        "cranberry",
        "pomegranate",
        "tomato",
        "redcurrant",
        "rosehip",
        "acerola",
    ),
    "yellow": (
        "banana",
        "lemon",
        "pineapple",
        "quince",
        "mirabelle",
        "yuzu",
        "citron",
        "grapefruit",
        "loquat",
    ),
    "green": (
        "kiwi",
        "lime",
        "gooseberry",
        "avocado",
        "greengage",
        "cucumber",
        "feijoa",
        "honeydew",
        "guava",
    ),
}
