"""The words of the pocket model's grammar: nouns with number and gender, verbs with their forms, lists of others."""

from dataclasses import dataclass

SINGULAR, PLURAL = 0, 1

# singular, plural, gender (m, f, or n for either)
_PEOPLE = """
student students n|teacher teachers n|chef chefs n|boy boys m|girl girls f|man men m|woman women f|doctor doctors n
nurse nurses n|lawyer lawyers n|farmer farmers n|child children n|king kings m|queen queens f|actor actors m
actress actresses f|guard guards n|pilot pilots n|singer singers n|writer writers n|author authors n|critic critics n
painter painters n|driver drivers n|neighbor neighbors n|friend friends n|mother mothers f|father fathers m
sister sisters f|brother brothers m|aunt aunts f|uncle uncles m|grandmother grandmothers f|son sons m
daughter daughters f|manager managers n|officer officers n|journalist journalists n|senator senators n|judge judges n
waiter waiters m|waitress waitresses f|baker bakers n|tourist tourists n|soldier soldiers n|captain captains n
prince princes m|princess princesses f|scientist scientists n|artist artists n|dancer dancers n|musician musicians n
poet poets n|customer customers n|visitor visitors n|guest guests n|professor professors n|engineer engineers n
coach coaches n|player players n|clerk clerks n|gardener gardeners n|reporter reporters n|witness witnesses n
worker workers n|boss bosses n|secretary secretaries n|assistant assistants n|director directors n|editor editors n
detective detectives n|thief thieves n|banker bankers n|sailor sailors n|hunter hunters n|parent parents n
member members n|minister ministers n|guide guides n|mechanic mechanics n|cook cooks n|mayor mayors n
"""
_THINGS = """
key keys|cabinet cabinets|book books|letter letters|picture pictures|box boxes|door doors|window windows|table tables
chair chairs|report reports|song songs|story stories|car cars|bike bikes|house houses|garden gardens|ticket tickets
cup cups|glass glasses|knife knives|shelf shelves|bottle bottles|label labels|photo photos|painting paintings
newspaper newspapers|phone phones|computer computers|bag bags|coat coats|shoe shoes|hat hats|ring rings|clock clocks
lamp lamps|bed beds|plate plates|basket baskets|flower flowers|tree trees|road roads|bridge bridges|boat boats
train trains|plan plans|idea ideas|problem problems|answer answers|question questions|gift gifts|map maps
drawer drawers|file files|message messages|poem poems|novel novels|article articles|guitar guitars|room rooms
mirror mirrors|shop shops|fence fences|suitcase suitcases|costume costumes|machine machines|wall walls
"""
_FOOD = """
cake cakes|sandwich sandwiches|pizza pizzas|apple apples|cookie cookies|pie pies|meal meals|soup soups|salad salads
egg eggs|dinner dinners|dessert desserts|fish fish|potato potatoes
"""
_ANIMALS = "dog dogs|cat cats|horse horses|bird birds|cow cows|rabbit rabbits|mouse mice|pony ponies"

# base, third person singular, past, participle, -ing
_OBJECT_VERBS = """
find finds found found finding|lose loses lost lost losing|buy buys bought bought buying|sell sells sold sold selling
take takes took taken taking|bring brings brought brought bringing|see sees saw seen seeing|hide hides hid hidden hiding
break breaks broke broken breaking|clean cleans cleaned cleaned cleaning|paint paints painted painted painting
carry carries carried carried carrying|like likes liked liked liking|need needs needed needed needing
want wants wanted wanted wanting|use uses used used using|steal steals stole stolen stealing
fix fixes fixed fixed fixing
describe describes described described describing|choose chooses chose chosen choosing
destroy destroys destroyed destroyed destroying|notice notices noticed noticed noticing
keep keeps kept kept keeping|love loves loved loved loving|mention mentions mentioned mentioned mentioning
discover discovers discovered discovered discovering
"""
_FOOD_VERBS = """
devour devours devoured devoured devouring
prepare prepares prepared prepared preparing
taste tastes tasted tasted tasting
make makes made made making|serve serves served served serving|order orders ordered ordered ordering
share shares shared shared sharing|burn burns burned burned burning
"""
_PERSON_VERBS = """
blame blames blamed blamed blaming|praise praises praised praised praising|hurt hurts hurt hurt hurting
help helps helped helped helping|follow follows followed followed following|admire admires admired admired admiring
trust trusts trusted trusted trusting|visit visits visited visited visiting|meet meets met met meeting
see sees saw seen seeing|know knows knew known knowing|like likes liked liked liking|hate hates hated hated hating
thank thanks thanked thanked thanking|call calls called called calling|teach teaches taught taught teaching
defend defends defended defended defending|watch watches watched watched watching
criticize criticizes criticized criticized criticizing|accuse accuses accused accused accusing
"""
_REFLEXIVE_VERBS = """
blame blames blamed blamed blaming|praise praises praised praised praising|hurt hurts hurt hurt hurting
admire admires admired admired admiring|see sees saw seen seeing|hate hates hated hated hating
teach teaches taught taught teaching|defend defends defended defended defending|wash washes washed washed washing
introduce introduces introduced introduced introducing|criticize criticizes criticized criticized criticizing
injure injures injured injured injuring|enjoy enjoys enjoyed enjoyed enjoying|trust trusts trusted trusted trusting
"""
# take a person and a thing, as two objects or with *to*
_GIVING_VERBS = """
give gives gave given giving|show shows showed shown showing|send sends sent sent sending
offer offers offered offered offering|tell tells told told telling|lend lends lent lent lending
teach teaches taught taught teaching|hand hands handed handed handing|promise promises promised promised promising
bring brings brought brought bringing|sell sells sold sold selling
"""
# take a person with *to* only
_TELLING_VERBS = """
describe describes described described describing|explain explains explained explained explaining
reveal reveals revealed revealed revealing|mention mentions mentioned mentioned mentioning
announce announces announced announced announcing|suggest suggests suggested suggested suggesting
demonstrate demonstrates demonstrated demonstrated demonstrating|report reports reported reported reporting
donate donates donated donated donating|introduce introduces introduced introduced introducing
"""
_SAYING_VERBS = """
say says said said saying|think thinks thought thought thinking|believe believes believed believed believing
hope hopes hoped hoped hoping|claim claims claimed claimed claiming
"""
_BARE_VERBS = """
sleep sleeps slept slept sleeping|laugh laughs laughed laughed laughing
complain complains complained complained complaining
arrive arrives arrived arrived arriving|smile smiles smiled smiled smiling|leave leaves left left leaving
cry cries cried cried crying|work works worked worked working|sing sings sang sung singing
dance dances danced danced dancing
wait waits waited waited waiting|fall falls fell fallen falling|travel travels traveled traveled traveling
talk talks talked talked talking|walk walks walked walked walking|apologize apologizes apologized apologized apologizing
"""


@dataclass(frozen=True)
class Noun:
    """A noun's two numbers, its gender (m, f, n) and its kind: person, thing, food or animal."""

    forms: tuple[str, str]
    gender: str
    kind: str


@dataclass(frozen=True)
class Verb:
    """A verb's five forms."""

    base: str
    third: str
    past: str
    participle: str
    ing: str

    def present(self, number: int) -> str:
        """The present form that agrees with a subject of that number."""
        return self.third if number == SINGULAR else self.base

    def at(self, past: bool, number: int) -> str:
        """The past, or the present that agrees with a subject of that number."""
        return self.past if past else self.present(number)


def _entries(text: str) -> list[list[str]]:
    return [entry.split() for line in text.split("\n") for entry in line.split("|") if entry.strip()]


def _nouns(text: str, kind: str) -> list[Noun]:
    return [Noun((e[0], e[1]), e[2] if len(e) > 2 else "n", kind) for e in _entries(text)]


def _verbs(text: str) -> list[Verb]:
    return [Verb(*entry) for entry in _entries(text)]


def _list(text: str) -> list[str]:
    return text.split("|")


PEOPLE, THINGS = _nouns(_PEOPLE, "person"), _nouns(_THINGS, "thing")
FOOD, ANIMALS = _nouns(_FOOD, "food"), _nouns(_ANIMALS, "animal")
OBJECT_VERBS, FOOD_VERBS, PERSON_VERBS = _verbs(_OBJECT_VERBS), _verbs(_FOOD_VERBS), _verbs(_PERSON_VERBS)
REFLEXIVE_VERBS, BARE_VERBS = _verbs(_REFLEXIVE_VERBS), _verbs(_BARE_VERBS)
GIVING_VERBS, TELLING_VERBS, SAYING_VERBS = _verbs(_GIVING_VERBS), _verbs(_TELLING_VERBS), _verbs(_SAYING_VERBS)
EVENTS = _list("party|meeting|show|game|lesson|trip|storm|wedding|concert|war|race|trial")
PLACES = _list(
    "kitchen|park|school|office|street|hospital|library|city|village|market|church|"
    "station|hotel|museum|airport|island|valley|company|group"
)
TIMES = _list("yesterday|last night|this morning|on Monday|in the evening|last week|at noon|today")
MANNERS = _list("quickly|slowly|quietly|carefully|often|again|together|badly|well|very much")
NAMES_M = _list("John|Peter|David|Tom|Paul|Mark|James")
NAMES_F = _list("Mary|Anna|Susan|Lisa|Sarah|Emma|Julia")
PERSON_ADJECTIVES = _list("young|old|tall|happy|sad|famous|angry|tired|rich|clever|kind|lazy")
THING_ADJECTIVES = _list("old|new|big|small|red|blue|green|white|black|beautiful|expensive|dirty")
STATES = _list("late|ready|here|happy|tired|angry|hungry|sick|famous|nervous|at home|in trouble")
CONDITIONS = _list("missing|old|new|broken|dirty|expensive|beautiful|gone|ready|rusty|on the table")
DEGREES = _list("very|really|so|quite")
