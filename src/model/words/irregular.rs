//! Irregular forms of English verbs: data for stemming. Forms that are words of their own in code
//! are missing (`left`, `bound`, `ground`, `led`, `done`).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// One verb a line: its base, then its irregular forms.
const VERBS: &str = "
arise arose arisen
awake awoke awoken
become became
begin began begun
bend bent
bite bitten
bleed bled
blow blew blown
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
cling clung
come came
deal dealt
dig dug
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
fight fought
find found
flee fled
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
know knew known
lend lent
lose lost
make made
mean meant
meet met
mistake mistook mistaken
outgrow outgrew outgrown
overcome overcame
overdo overdid overdone
override overrode overridden
overrun overran
oversee oversaw overseen
overtake overtook overtaken
overthrow overthrew overthrown
overwrite overwrote overwritten
partake partook partaken
pay paid
prove proven
rebind rebound
rebuild rebuilt
redo redid redone
redraw redrew redrawn
regrow regrew regrown
remake remade
repay repaid
rerun reran
resell resold
resend resent
retake retook retaken
rethink rethought
rethrow rethrew rethrown
retell retold
rewind rewound
rewrite rewrote rewritten
ride rode ridden
ring rang rung
rise risen
run ran
say said
seek sought
sell sold
send sent
shake shook shaken
shine shone
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
spend spent
spin spun
spring sprang sprung
stand stood
steal stole stolen
stick stuck
strike struck stricken
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
underlie underlain
unbind unbound
undergo underwent undergone
understand understood
undertake undertook undertaken
undo undid undone
unwind unwound
wake woke woken
wear wore worn
weave wove woven
win won
withdraw withdrew withdrawn
withhold withheld
withstand withstood
write wrote written
";

/// Bases by form.
static BASES: LazyLock<FxHashMap<&[u8], &[u8]>> = LazyLock::new(|| forms().collect());

/// Irregular forms with their bases.
pub(super) fn forms() -> impl Iterator<Item = (&'static [u8], &'static [u8])> {
    VERBS.lines().flat_map(|line| {
        let mut words = line.split_whitespace().map(str::as_bytes);
        let base = words.next().unwrap_or_default();
        words.map(move |form| (form, base))
    })
}

/// Replaces an irregular form by its base.
pub(super) fn to_base(word: &mut Vec<u8>) {
    if let Some(base) = BASES.get(word.as_slice()) {
        word.clear();
        word.extend_from_slice(base);
    }
}
