"""Effects of several experiments, one by one and together."""

from .table_schema import ANALYSE, Table, parse_columns

TABLES = (
    Table(
        "pooled_effects",
        "an effect in one of several experiments, pooled over them, or the difference of it between two",
        parse_columns("""
unit          string   what has a model of its own: phenomenon, or model (of the study's own factors)
model         string   name of the model
response      string   response variable
family        string   gaussian; binomial: estimates are log odds; cumulative: on the latent scale
region        string   region of the reading times; sentence for ratings and answers
prompt        string?  prompt of the answers; empty of reading times
term          string   fixed effect
contrast      string   what is compared, the same in all experiments
kind          string   experiment; pooled: meta-analysis; joint: mean in one model of all trials; difference of two, differences
experiment    string?  experiment; of a difference both; empty of pooled, joint and differences
random        string?  random effects of an experiment's model: intercepts, slopes or declared
estimate      float?   effect, in units of the response; empty where there is none, and note says why
se            float?   standard error; pooled: Hartung and Knapp's (doi 10.1002/sim.1009), not below that of the estimates' errors
df            float?   degrees of freedom: Satterthwaite's; pooled: experiments less one; empty of binomial and cumulative models
t             float?   estimate / se; z where there is no df
p             float?   two-sided p-value, not adjusted
ci_low        float?   lower end of the 95 % interval
ci_high       float?   upper end
weight        float?   share of an experiment in the pooled effect, 0 to 1; empty where it is left out
tau           float?   pooled: standard deviation of the effect between experiments, by REML (doi 10.3102/10769986030003261)
tau_low       float?   lower end of its 95 % interval, by the Q profile (doi 10.1002/sim.2514)
tau_high      float?   upper end
i_squared     float?   pooled: share of the variance between estimates that their standard errors do not explain, 0 to 1
q             float?   pooled: Cochran's Q; differences: Wald's chi-square: whether all experiments have the same effect
q_df          int?     its degrees of freedom
q_p           float?   its p
prediction_low float?  pooled, from three experiments: lower end of the 95 % interval of a further experiment's effect
prediction_high float? upper end
n_experiments int      experiments in the estimate
n             int?     trials
n_participants int?    participants; joint: those of all experiments
n_items       int?     items; joint: those of the same name count once
formula       string?  model as fitted
note          string?  why there is no estimate, or why it is left out
"""),
        ("unit", "model", "response", "family", "region", "prompt", "term", "kind", "experiment"),
        ANALYSE,
        is_always_written=False,
    ),
)
