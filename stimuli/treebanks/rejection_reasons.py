"""Why no pair is made of a subject, in the order in which it is asked; rules of `check` that find an error are reasons too."""

from collections.abc import Mapping

REJECTION_REASONS: Mapping[str, str] = {
    "subject-upos": "the subject is neither noun nor pronoun (with `--subjects noun`: no noun)",
    "predicate-upos": "the predicate's head is no verb",
    "conjoined-subject": "another subject is joined to it: *Ann and Bob*",
    "expletive": "the predicate has an expletive beside it: *there*",
    "outer-subject": "the predicate has a subject outside of it",
    "not-finite": "neither the predicate's head nor an auxiliary or copula of it is finite",
    "no-participle": "the predicate's head is no participle",
    "contradiction": "subject and word state different numbers, persons or genders: one of the two is annotated wrongly",
    "restricted": "the word is not of the tense or person that the language is restricted to",
    "undefined": "neither the word nor its subject states the feature, or another form may be any of its values",
    "no-entry": "the forms have no entry of the word",
    "no-form": "the forms have none that differs in this feature and in nothing else",
    "same-form": "the other form is the same",
    "other-script": "the other form is in another script than the word, as tables of forms may be",
    "several-words": "the other form is several words",
    "values-overlap": "the other form may also have the value of the word",
    "fused": "the word is in a multiword token that is not its words side by side, or a form begins with an apostrophe",
    "ambiguous-subject": "the subject's form may also have the other value, or says nothing of the feature",
    "duplicate": "there is the same pair already",
    "no-agreement": "the language lacks the agreement in this value and order (table `agreement_tests`), or no word states it",
}
