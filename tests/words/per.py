"""Finds "16 bytes a lane", "a row an instruction", "one a core": English that says "per" by "a", and is hard to read.

    per.py FILE …    these files, with their comments; not all that it finds there is wrong
"""
import re
import sys
from pathlib import Path

WORDS = r"one|two|three|four|five|six|seven|eight|nine|ten|sixteen"
NUMBERS = rf"an?|{WORDS}|\d+(?:[.,]\d+)*"
# Nouns that are counted. Those that may also be verbs ("a thread loads a row") are found only after a number or an article.
COUNTED = (r"bytes|bits|elements|rows|lines|files|threads|blocks|warps|lanes|chains|barriers|words|pixels|atomics|registers|"
           r"tests|requests|sectors|accesses|columns|instructions|numbers|values|digits|characters|letters|strings|seeds|buffers|"
           r"tiles|slices|steps|samples|events|entries|nodes|counters|operators|families|rungs|messages|fields|folders|records|"
           r"cycles|transfers|wavefronts|flops")
UNITS = (r"lane|thread|warp|block|cluster|grid|row|column|instruction|element|pack|SM|launch|kernel|test|file|group|subject|"
         r"family|rung|line|access|load|store|tensor|level|clock|cycle|call|operator|function|case|core|segment|slice|step|"
         r"counter|register|byte|word|sector|request|pixel|scheduler|page|process|program|GPU|device|format|name|field|value|"
         r"member|finding|place|stream|queue|entry|item|size|sample|second|turn|barrier|worker|tile|digit|pass|run|table|folder|"
         r"list|type|verb|flag|section|variable|argument|parameter|chunk|bank|bit|piece|head|token|channel|image|vector|matrix|"
         r"operand|spelling|opcode|site|event|node|graph|chain|pair|unit|module|key|record|message|report|shape|dimension|axis|"
         r"part|side|symbol|operation|allocation|texel|result|seed|round|cause|target|layer")
# What may stand between a number and "a lane" without being counted by it.
NOT_COUNTED = r"is|was|has|of|in|to|as|by|for|with|and|or|from|at|on|that|than|not|such|per|be|if|but|so|after|before|half|neither|time|times"
PER = re.compile(rf"\b(?:(?:{COUNTED})"
                 rf"|(?:{NUMBERS}) (?!(?:{NOT_COUNTED})\b)[\w-]+"
                 rf"|(?:{WORDS}))"
                 rf" (?-i:an?) (?:{UNITS})\b", re.I)


def found_in(text):
    """The phrases of a text that say it, also across the ends of lines."""
    joined = re.sub(r"\s+", " ", re.sub(r"\n\s*\n", " ¶ ", text))
    return PER.findall(joined)


def of_source(text):
    """A source file as text: without the marks of comments and the quotes between the pieces of a string."""
    text = re.sub(r'"\s*\n\s*"', "", text)
    return re.sub(r"^\s*(?://+|#|\*)", " ", text, flags=re.M)


if __name__ == "__main__":
    wrong = [(name, phrase) for name in sys.argv[1:] for phrase in found_in(of_source(Path(name).read_text()))]
    for name, phrase in wrong:
        print(f"{name} says '{phrase}'")
    sys.exit(1 if wrong else 0)
