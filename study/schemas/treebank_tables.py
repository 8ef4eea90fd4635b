"""Agreement pairs out of treebanks: how sure the agreement is, what was left out, and how many languages have which."""

from .table_schema import EXTRACT, Table, parse_columns

TABLES = (
    Table(
        "agreement_tests",
        "a value of subjects that come before or after what agrees with them",
        parse_columns("""
language      string   language (ISO 639-3)
phenomenon    string   what agrees in what, such as sv-number
order         string   SV where the subject comes first, else VS
value         string   value of the feature of the subject
n_agreeing    int      words of the same value
n_words       int      words of any value
share_agreeing float?  n_agreeing / n_words; empty where n_words is 0
ci_low        float?   lower end of the 95 % Clopper-Pearson interval of share_agreeing
ci_high       float?   upper end
p_greater     float?   P[Bin(n_words, 0.9) >= n_agreeing]
p_less        float?   P[Bin(n_words, 0.9) <= n_agreeing]
decision      string   certain (p_greater <= 0.05), none (p_less <= 0.05: no pairs), likely (over 0.9 and 5 words), or undecided
"""),
        ("language", "phenomenon", "order", "value"),
        EXTRACT,
    ),
    Table(
        "rejected_subjects",
        "a subject, or another form of the word that agrees with it, of which no pair was made",
        parse_columns("""
language      string   language (ISO 639-3)
row           int      number of the row, from 0, in the order of the treebanks
phenomenon    string?  phenomenon; empty where the subject is none of any
treebank      string   treebank
sent_id       string   sentence of the treebank
subject       string   subject
word          string?  word that agrees with it; empty where there is none
other_form    string?  other form of the word; empty where none was found
reason        string   why there is no pair, as listed in docs/treebanks.md
sentence      string   text of the treebank
"""),
        ("language", "row"),
        EXTRACT,
    ),
    Table(
        "conditions_by_language",
        "a condition of agreement in a language",
        parse_columns("""
language      string   language (ISO 639-3)
family        string?  family of the language, by a table of the user's
resource      string?  resource class of the language, by a table of the user's
phenomenon    string   what agrees in what, such as sv-number
value         string   value of the feature in the grammatical member
other_value   string   value in the ungrammatical member; several, with commas, where its form may be any of them
order         string   SV where the subject comes first, else VS
type          string   word that agrees: verb, aux (auxiliary or copula) or ptcp (participle)
certainty     string   decision of table agreement_tests: certain, likely or undecided
n_found       int      pairs found
n_drawn       int      pairs drawn; 0 where n_found is below the minimum
"""),
        ("language", "phenomenon", "value", "other_value", "order", "type"),
        EXTRACT,
    ),
    Table(
        "language_counts",
        "a phenomenon in the languages of a family or resource class",
        parse_columns("""
phenomenon    string   what agrees in what, such as sv-number
grouping      string   all, family or resource
level         string   family or resource class; all
n_languages   int      languages with at least the minimum of pairs
n_certain_languages int those of them that have as many in conditions of certain agreement
n_pairs       int      pairs drawn in these languages
"""),
        ("phenomenon", "grouping", "level"),
        EXTRACT,
        is_always_written=False,
    ),
)
