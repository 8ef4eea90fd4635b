"""What the methods cite, as a list of references has it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """An entry of a list of references in APA style, and its address."""

    entry: str
    address: str


def _doi(entry: str, doi: str) -> Reference:
    return Reference(entry, f"https://doi.org/{doi}")


# As cited in the text; in the order of the list.
REFERENCES = {
    "Barr, 2008": _doi(
        "Barr, D. J. (2008). Analyzing 'visual world' eyetracking data using multilevel logistic regression. Journal of Memory and "
        "Language, 59(4), 457–474.",
        "10.1016/j.jml.2007.09.002",
    ),
    "Barr, 2013": _doi(
        "Barr, D. J. (2013). Random effects structure for testing interactions in linear mixed-effects models. Frontiers in "
        "Psychology, 4, 328.",
        "10.3389/fpsyg.2013.00328",
    ),
    "Barr et al., 2013": _doi(
        "Barr, D. J., Levy, R., Scheepers, C., & Tily, H. J. (2013). Random effects structure for confirmatory hypothesis "
        "testing: Keep it maximal. Journal of Memory and Language, 68(3), 255–278.",
        "10.1016/j.jml.2012.11.001",
    ),
    "Bates et al., 2015": _doi(
        "Bates, D., Mächler, M., Bolker, B., & Walker, S. (2015). Fitting linear mixed-effects models using lme4. Journal of "
        "Statistical Software, 67(1), 1–48.",
        "10.18637/jss.v067.i01",
    ),
    "Benjamini & Hochberg, 1995": _doi(
        "Benjamini, Y., & Hochberg, Y. (1995). Controlling the false discovery rate: A practical and powerful approach to "
        "multiple testing. Journal of the Royal Statistical Society: Series B, 57(1), 289–300.",
        "10.1111/j.2517-6161.1995.tb02031.x",
    ),
    "Christensen, 2023": _doi(
        "Christensen, R. H. B. (2023). ordinal: Regression models for ordinal data [R package].", "10.32614/CRAN.package.ordinal"
    ),
    "Clark, 1973": _doi(
        "Clark, H. H. (1973). The language-as-fixed-effect fallacy: A critique of language statistics in psychological research. "
        "Journal of Verbal Learning and Verbal Behavior, 12(4), 335–359.",
        "10.1016/S0022-5371(73)80014-3",
    ),
    "Forster et al., 2009": _doi(
        "Forster, K. I., Guerrera, C., & Elliot, L. (2009). The maze task: Measuring forced incremental sentence processing time. "
        "Behavior Research Methods, 41(1), 163–171.",
        "10.3758/BRM.41.1.163",
    ),
    "Goodkind & Bicknell, 2018": _doi(
        "Goodkind, A., & Bicknell, K. (2018). Predictive power of word surprisal for reading times is a linear function of "
        "language model quality. In Proceedings of the 8th Workshop on Cognitive Modeling and Computational Linguistics "
        "(pp. 10–18).",
        "10.18653/v1/W18-0102",
    ),
    "Hartung and Knapp (2001": _doi(
        "Hartung, J., & Knapp, G. (2001). A refined method for the meta-analysis of controlled clinical trials with binary "
        "outcome. Statistics in Medicine, 20(24), 3875–3889.",
        "10.1002/sim.1009",
    ),
    "Holm, 1979": Reference(
        "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics, 6(2), "
        "65–70.",
        "https://www.jstor.org/stable/4615733",
    ),
    "Hu et al., 2024": _doi(
        "Hu, J., Mahowald, K., Lupyan, G., Ivanova, A., & Levy, R. (2024). Language models align with human judgments on key "
        "grammatical constructions. Proceedings of the National Academy of Sciences, 121(36), e2400917121.",
        "10.1073/pnas.2400917121",
    ),
    "Ide et al., 2025": _doi(
        "Ide, Y., Nishida, Y., Vasselli, J., Oba, M., Sakai, Y., Kamigaito, H., & Watanabe, T. (2025). How to make the most of "
        "LLMs' grammatical knowledge for acceptability judgments. In Proceedings of the 2025 Conference of the Nations of the "
        "Americas Chapter of the Association for Computational Linguistics: Human Language Technologies (Volume 1: Long Papers).",
        "10.18653/v1/2025.naacl-long.380",
    ),
    "IntHout et al., 2014": _doi(
        "IntHout, J., Ioannidis, J. P. A., & Borm, G. F. (2014). The Hartung-Knapp-Sidik-Jonkman method for random effects "
        "meta-analysis is straightforward and considerably outperforms the standard DerSimonian-Laird method. BMC Medical Research "
        "Methodology, 14, 25.",
        "10.1186/1471-2288-14-25",
    ),
    "Just et al., 1982": _doi(
        "Just, M. A., Carpenter, P. A., & Woolley, J. D. (1982). Paradigms and processes in reading comprehension. Journal of "
        "Experimental Psychology: General, 111(2), 228–238.",
        "10.1037/0096-3445.111.2.228",
    ),
    "Kauf & Ivanova, 2023": _doi(
        "Kauf, C., & Ivanova, A. (2023). A better way to do masked language model scoring. In Proceedings of the 61st Annual "
        "Meeting of the Association for Computational Linguistics (Vol. 2, pp. 925–935).",
        "10.18653/v1/2023.acl-short.80",
    ),
    "Kuznetsova et al., 2017": _doi(
        "Kuznetsova, A., Brockhoff, P. B., & Christensen, R. H. B. (2017). lmerTest package: Tests in linear mixed effects "
        "models. Journal of Statistical Software, 82(13), 1–26.",
        "10.18637/jss.v082.i13",
    ),
    "Lau et al., 2017": _doi(
        "Lau, J. H., Clark, A., & Lappin, S. (2017). Grammaticality, acceptability, and probability: A probabilistic view of "
        "linguistic knowledge. Cognitive Science, 41(5), 1202–1241.",
        "10.1111/cogs.12414",
    ),
    "Liddell & Kruschke, 2018": _doi(
        "Liddell, T. M., & Kruschke, J. K. (2018). Analyzing ordinal data with metric models: What could possibly go wrong? "
        "Journal of Experimental Social Psychology, 79, 328–348.",
        "10.1016/j.jesp.2018.08.009",
    ),
    "Loftus, 1978": _doi(
        "Loftus, G. R. (1978). On interpretation of interactions. Memory & Cognition, 6(3), 312–319.", "10.3758/BF03197461"
    ),
    "Mann & Whitney, 1947": _doi(
        "Mann, H. B., & Whitney, D. R. (1947). On a test of whether one of two random variables is stochastically larger than "
        "the other. The Annals of Mathematical Statistics, 18(1), 50–60.",
        "10.1214/aoms/1177730491",
    ),
    "Matuschek et al., 2017": _doi(
        "Matuschek, H., Kliegl, R., Vasishth, S., Baayen, H., & Bates, D. (2017). Balancing Type I error and power in linear "
        "mixed models. Journal of Memory and Language, 94, 305–315.",
        "10.1016/j.jml.2017.01.001",
    ),
    "McNemar, 1947": _doi(
        "McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages. "
        "Psychometrika, 12(2), 153–157.",
        "10.1007/BF02295996",
    ),
    "Morey, 2008": _doi(
        "Morey, R. D. (2008). Confidence intervals from normalized data: A correction to Cousineau (2005). Tutorials in "
        "Quantitative Methods for Psychology, 4(2), 61–64.",
        "10.20982/tqmp.04.2.p061",
    ),
    "Phipson & Smyth, 2010": _doi(
        "Phipson, B., & Smyth, G. K. (2010). Permutation P-values should never be zero: Calculating exact P-values when "
        "permutations are randomly drawn. Statistical Applications in Genetics and Molecular Biology, 9(1), Article 39.",
        "10.2202/1544-6115.1585",
    ),
    "Pimentel & Meister, 2024": _doi(
        "Pimentel, T., & Meister, C. (2024). How to compute the probability of a word. In Proceedings of the 2024 Conference on "
        "Empirical Methods in Natural Language Processing.",
        "10.18653/v1/2024.emnlp-main.1020",
    ),
    "Röver et al., 2015": _doi(
        "Röver, C., Knapp, G., & Friede, T. (2015). Hartung-Knapp-Sidik-Jonkman approach and its modification for random-effects "
        "meta-analysis with few studies. BMC Medical Research Methodology, 15, 99.",
        "10.1186/s12874-015-0091-1",
    ),
    "Schad et al., 2020": _doi(
        "Schad, D. J., Vasishth, S., Hohenstein, S., & Kliegl, R. (2020). How to capitalize on a priori contrasts in linear "
        "(mixed) models: A tutorial. Journal of Memory and Language, 110, 104038.",
        "10.1016/j.jml.2019.104038",
    ),
    "Schuirmann, 1987": _doi(
        "Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach for assessing the "
        "equivalence of average bioavailability. Journal of Pharmacokinetics and Biopharmaceutics, 15(6), 657–680.",
        "10.1007/BF01068419",
    ),
    "Shrout & Fleiss, 1979": _doi(
        "Shrout, P. E., & Fleiss, J. L. (1979). Intraclass correlations: Uses in assessing rater reliability. Psychological "
        "Bulletin, 86(2), 420–428.",
        "10.1037/0033-2909.86.2.420",
    ),
    "Simonsohn et al., 2020": _doi(
        "Simonsohn, U., Simmons, J. P., & Nelson, L. D. (2020). Specification curve analysis. Nature Human Behaviour, 4(11), "
        "1208–1214.",
        "10.1038/s41562-020-0912-z",
    ),
    "Smith & Levy, 2013": _doi(
        "Smith, N. J., & Levy, R. (2013). The effect of word predictability on reading time is logarithmic. Cognition, 128(3), "
        "302–319.",
        "10.1016/j.cognition.2013.02.013",
    ),
    "Speer, 2022": _doi("Speer, R. (2022). wordfreq (Version 3.0) [Computer software].", "10.5281/zenodo.7199437"),
    "Steegen et al., 2016": _doi(
        "Steegen, S., Tuerlinckx, F., Gelman, A., & Vanpaemel, W. (2016). Increasing transparency through a multiverse analysis. "
        "Perspectives on Psychological Science, 11(5), 702–712.",
        "10.1177/1745691616658637",
    ),
    "Suijkerbuijk et al., 2025": _doi(
        "Suijkerbuijk, M., Prins, Z., de Heer Kloots, M., Zuidema, W., & Frank, S. L. (2025). BLiMP-NL: A corpus of Dutch "
        "minimal pairs and acceptability judgments for language model evaluation. Computational Linguistics.",
        "10.1162/COLI.a.00559",
    ),
    "van Heuven et al., 2014": _doi(
        "van Heuven, W. J. B., Mandera, P., Keuleers, E., & Brysbaert, M. (2014). SUBTLEX-UK: A new and improved word frequency "
        "database for British English. Quarterly Journal of Experimental Psychology, 67(6), 1176–1190.",
        "10.1080/17470218.2013.850521",
    ),
    "Viechtbauer, 2005": _doi(
        "Viechtbauer, W. (2005). Bias and efficiency of meta-analytic variance estimators in the random-effects model. Journal of "
        "Educational and Behavioral Statistics, 30(3), 261–293.",
        "10.3102/10769986030003261",
    ),
    "Viechtbauer, 2007": _doi(
        "Viechtbauer, W. (2007). Confidence intervals for the amount of heterogeneity in meta-analysis. Statistics in Medicine, "
        "26(1), 37–52.",
        "10.1002/sim.2514",
    ),
    "Wagenmakers et al., 2012": _doi(
        "Wagenmakers, E.-J., Krypotos, A.-M., Criss, A. H., & Iverson, G. (2012). On the interpretation of removable interactions: "
        "A survey of the field 33 years after Loftus. Memory & Cognition, 40(2), 145–160.",
        "10.3758/s13421-011-0158-0",
    ),
    "Warstadt et al., 2020": _doi(
        "Warstadt, A., Parrish, A., Liu, H., Mohananey, A., Peng, W., Wang, S.-F., & Bowman, S. R. (2020). BLiMP: The benchmark "
        "of linguistic minimal pairs for English. Transactions of the Association for Computational Linguistics, 8, 377–392.",
        "10.1162/tacl_a_00321",
    ),
    "Wilson, 1927": _doi(
        "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the American "
        "Statistical Association, 22(158), 209–212.",
        "10.1080/01621459.1927.10502953",
    ),
    "Wolf et al., 2020": _doi(
        "Wolf, T., Debut, L., Sanh, V., Chaumond, J., Delangue, C., Moi, A., ... Rush, A. M. (2020). Transformers: "
        "State-of-the-art natural language processing. In Proceedings of the 2020 Conference on Empirical Methods in Natural "
        "Language Processing: System Demonstrations (pp. 38–45).",
        "10.18653/v1/2020.emnlp-demos.6",
    ),
    "Wood, 2017": _doi(
        "Wood, S. N. (2017). Generalized additive models: An introduction with R (2nd ed.). CRC Press.", "10.1201/9781315370279"
    ),
}


def cited(text: str) -> list[Reference]:
    """Return the references that a text cites, in the order of the list.

    >>> [reference.address for reference in cited("as usual (Shrout & Fleiss, 1979)")]
    ['https://doi.org/10.1037/0033-2909.86.2.420']
    """
    return [reference for name, reference in REFERENCES.items() if name in text]
