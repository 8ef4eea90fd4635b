"""Two small treebanks of our own, and forms, with what is odd in real ones: each sentence with what has to come of it for number.

What comes of a sentence is the other member of its pair, or in square brackets why it is left out or gives none.
"""

SG, PL = "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin", "Number=Plur|Tense=Pres|VerbForm=Fin"

ENGLISH = [
    ("The keys to the cabinet stay.", "The keys to the cabinet stays.", f"""
        The the DET _ 2 det
        keys key NOUN Number=Plur 6 nsubj
        to to ADP _ 5 case
        the the DET _ 5 det
        cabinet cabinet NOUN Number=Sing 2 nmod
        stay stay VERB {PL} 0 root SpaceAfter=No
        . . PUNCT _ 6 punct"""),
    ("The  cat don't stay", "[contradiction]", f"""
        The the DET _ 2 det
        cat cat NOUN Number=Sing 5 nsubj
        3-4 don't
        do do AUX {PL} 5 aux
        n't not PART _ 5 advmod
        stay stay VERB VerbForm=Inf 0 root"""),
    ("The cats don't stay", "The cats doesn't stay", f"""
        The the DET _ 2 det
        cats cat NOUN Number=Plur 5 nsubj
        3-4 don't
        do do AUX {PL} 5 aux
        n't not PART _ 5 advmod
        stay stay VERB VerbForm=Inf 0 root"""),
    ("The cats\xa0don't stay", "[invisible-character]", f"""
        The the DET _ 2 det
        cats cat NOUN Number=Plur 5 nsubj
        3-4 don't
        do do AUX {PL} 5 aux
        n't not PART _ 5 advmod
        stay stay VERB VerbForm=Inf 0 root"""),
    ("Do cats stay?", "Does cats stay?", f"""
        Do do AUX {PL} 3 aux
        cats cat NOUN Number=Plur 3 nsubj
        stay stay VERB VerbForm=Inf 0 root SpaceAfter=No
        ? ? PUNCT _ 3 punct"""),
    ("Does the cat stay?", "Do the cat stay?", f"""
        Does do AUX {SG} 4 aux
        the the DET _ 3 det
        cat cat NOUN Number=Sing 4 nsubj
        stay stay VERB VerbForm=Inf 0 root SpaceAfter=No
        ? ? PUNCT _ 4 punct"""),
    ("The cat's sleeping", "[fused]", f"""
        The the DET _ 2 det
        2-3 cat's
        cat cat NOUN Number=Sing 4 nsubj
        's be AUX {SG} 4 aux
        sleeping sleep VERB VerbForm=Part 0 root"""),
    ("Cats are sleeping", "Cats is sleeping", f"""
        Cats cat NOUN Number=Plur 3 nsubj
        are be AUX {PL} 3 aux
        sleeping sleep VERB VerbForm=Part 0 root"""),
    ("The cat is sleeping", "The cat are sleeping", f"""
        The the DET _ 2 det
        cat cat NOUN Number=Sing 4 nsubj
        is be AUX {SG} 4 aux
        sleeping sleep VERB VerbForm=Part 0 root"""),
    ("The cats gotta", "[fused]", f"""
        The the DET _ 2 det
        cats cat NOUN Number=Plur 3 nsubj
        3-4 gotta
        stay stay VERB {PL} 0 root
        to to PART _ 3 mark"""),
    ("There stays a cat", "[expletive]", f"""
        There there PRON _ 2 expl
        stays stay VERB {SG} 0 root
        a a DET _ 4 det
        cat cat NOUN Number=Sing 2 nsubj"""),
    ("Cats and dogs stay", "[conjoined-subject]", f"""
        Cats cat NOUN Number=Plur 4 nsubj
        and and CCONJ _ 3 cc
        dogs dog NOUN Number=Plur 1 conj
        stay stay VERB {PL} 0 root"""),
    ("Ann stays", "[subject-upos]", f"Ann Ann PROPN Number=Sing 2 nsubj\nstays stay VERB {SG} 0 root"),
    ("Cats stayed", "[restricted]", "Cats cat NOUN Number=Plur 2 nsubj\nstayed stay VERB Tense=Past|VerbForm=Fin 0 root"),
    ("The sheep stay", "[ambiguous-subject]", f"""
        The the DET _ 2 det
        sheep sheep NOUN Number=Plur 3 nsubj
        stay stay VERB {PL} 0 root"""),
    ("One sheep stays", "[ambiguous-subject]", f"""
        One one NUM _ 2 nummod
        sheep sheep NOUN Number=Sing 3 nsubj
        stays stay VERB {SG} 0 root"""),
    ("Cats can stay", "[same-form]", """
        Cats cat NOUN Number=Plur 3 nsubj
        can can AUX Tense=Pres|VerbForm=Fin 3 aux
        stay stay VERB VerbForm=Inf 0 root"""),
    ("The cat can stay", "[same-form]", """
        The the DET _ 2 det
        cat cat NOUN Number=Sing 4 nsubj
        can can AUX Tense=Pres|VerbForm=Fin 4 aux
        stay stay VERB VerbForm=Inf 0 root"""),
    ("Cats are sleeping", "[duplicate]", f"""
        Cats cat NOUN Number=Plur 3 nsubj
        are be AUX {PL} 3 aux
        sleeping sleep VERB VerbForm=Part 0 root"""),
    ("Cats stay and dogs too", "Cats stays and dogs too", f"""
        Cats cat NOUN Number=Plur 2 nsubj
        stay stay VERB {PL} 0 root
        and and CCONJ _ 4 cc
        dogs dog NOUN Number=Plur 2 conj
        4.1 stay
        too too ADV _ 4 advmod"""),
    ("Cats staay", "[typo]", "Cats cat NOUN Number=Plur 2 nsubj\nstaay stay VERB Typo=Yes 0 root CorrectForm=stay"),
    ("Cats stay y'all", "[style]", f"Cats cat NOUN Number=Plur 2 nsubj\nstay stay VERB {PL} 0 root\ny'all you PRON Style=Coll 2 vocative"),
    ("Cats stay chez", "[foreign]", f"Cats cat NOUN Number=Plur 2 nsubj\nstay stay VERB {PL} 0 root\nchez chez X Foreign=Yes 2 dep"),
    ("Cats cats stay", "[reparandum]", f"Cats cat NOUN Number=Plur 2 reparandum\ncats cat NOUN Number=Plur 3 nsubj\nstay stay VERB {PL} 0 root"),
    ("Cats stay,here", "[correction]", f"Cats cat NOUN Number=Plur 2 nsubj\nstay stay VERB {PL} 0 root SpaceAfter=No\n, , PUNCT _ 2 punct SpaceAfter=No|CorrectSpaceAfter=Yes\nhere here ADV _ 2 advmod"),
    ("Cats stay " + "so " * 64, "[long]", f"Cats cat NOUN Number=Plur 2 nsubj\nstay stay VERB {PL} 0 root" + "\nso so ADV _ 2 advmod" * 64),
    ("Cats stay here", "[text-mismatch]", f"Cats cat NOUN Number=Plur 2 nsubj\nstay stay VERB {PL} 0 root"),
]  # fmt: skip
ENGLISH_FORMS = """\
stay\tstay\tV;NFIN
stay\tstays\tV;PRS;3;SG
stay\tstayed\tV;PST
sheep\tsheep\tN;SG
sheep\tsheep\tN;PL
"""

DUTCH = [
    ("Hij loopt.", "Hij lopen.", """
        Hij hij PRON Case=Nom|Person=3|PronType=Prs 2 nsubj
        loopt lopen VERB Number=Sing|Tense=Pres|VerbForm=Fin 0 root SpaceAfter=No
        . . PUNCT _ 2 punct"""),
    ("Zij lopen.", "[ambiguous-subject]", """
        Zij zij PRON Case=Nom|Person=3|PronType=Prs 2 nsubj
        lopen lopen VERB Number=Plur|Tense=Pres|VerbForm=Fin 0 root SpaceAfter=No
        . . PUNCT _ 2 punct"""),
    ("De katten lopen.", "De katten loopt.", """
        De de DET _ 2 det
        katten kat NOUN Number=Plur 3 nsubj
        lopen lopen VERB Number=Plur|Tense=Pres|VerbForm=Fin 0 root SpaceAfter=No
        . . PUNCT _ 3 punct"""),
    ("Vaak komen ruzies voor.", "Vaak komt ruzies voor.", """
        Vaak vaak ADV _ 2 advmod
        komen voor_komen VERB Number=Plur|Tense=Pres|VerbForm=Fin 0 root
        ruzies ruzie NOUN Number=Plur 2 nsubj
        voor voor ADP _ 2 compound:prt SpaceAfter=No
        . . PUNCT _ 2 punct"""),
    ("De deur sluit.", "De deur sluiten.", """
        De de DET _ 2 det
        deur deur NOUN Gender=Com|Number=Sing 3 nsubj
        sluit sluiten VERB Number=Sing|Tense=Pres|VerbForm=Fin 0 root SpaceAfter=No
        . . PUNCT _ 3 punct"""),
    ("De kat snort.", "[no-form]", """
        De de DET _ 2 det
        kat kat NOUN Gender=Com|Number=Sing 3 nsubj
        snort snorren VERB Number=Sing|Tense=Pres|VerbForm=Fin 0 root SpaceAfter=No
        . . PUNCT _ 3 punct"""),
]  # fmt: skip
DUTCH_FORMS = """\

lopen\tloop\tV;IND;PRS;1;SG
lopen\tloopt\tV;IND;PRS;2;SG
lopen\tloopt\tV;IND;PRS;3;SG
lopen\tlopen\tV;IND;PRS;PL
lopen\tlopen\tV;NFIN
lopen\tloopt\tV;IMP;PL
lopen\tlope\tV;SBJV;PRS;SG
komen\tkomt\tV;IND;PRS;3;SG
komen\tkomen\tV;IND;PRS;PL
sluiten\tsluiten\tV;IND;PRS;PL
"""
