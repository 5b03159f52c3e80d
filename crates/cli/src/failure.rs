//! Exit statuses of commands, and their error messages.

use std::io;

use materia_app::failure::Hint;
use materia_app::options::Contradiction;
use materia_contract::{Refusal, RefusalReport};
use materia_engine::{ClaimError, EngineError, LoadError, PostError, ReadError};
use materia_journal::OpenError;

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// All is well.
    Done,
    /// A cast completed, and its verdict is false (D65).
    Unsatisfied,
    /// A cast failed, or a check did not hold.
    Failed,
    /// Nothing was done.
    Refused,
    /// A cast waits for a person.
    Waiting,
    /// It could not be decided whether a property holds.
    Undecided,
    /// Another server of this user runs already.
    ServerRuns,
    /// A person interrupted it.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done | Self::Unsatisfied => 0,
            Self::Failed => 1,
            Self::Refused => 2,
            Self::Waiting => 3,
            Self::Undecided => 4,
            Self::ServerRuns => 75,
            Self::Interrupted => 130,
        }
    }
}

/// How a command ended.
pub(crate) type Ended = Result<Exit, Failure>;

/// Why a command did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It was refused before anything ran.
    #[error("{}", .0.message)]
    Refused(Box<Refusal>),
    /// It broke off in the middle.
    #[error("{0}")]
    Broken(String),
    /// Standard output is gone.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// The command was written wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        materia_app::Failure::usage(message).into()
    }

    /// The named thing does not exist, or cannot be used for this.
    pub(crate) fn resolution(message: impl Into<String>) -> Self {
        materia_app::Failure::resolution(message).into()
    }

    /// The user has no permission to run the command.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        materia_app::Failure::forbidden(message).into()
    }

    /// The commands are not approved.
    pub(crate) fn trust(message: impl Into<String>) -> Self {
        materia_app::Failure::trust(message).into()
    }

    /// Files cannot be read or written.
    pub(crate) fn storage(message: impl Into<String>) -> Self {
        materia_app::Failure::storage(message).into()
    }

    /// The object that `--json` prints, where there is one.
    pub(crate) fn report(self) -> Option<RefusalReport> {
        match self {
            Self::Refused(error) => Some(RefusalReport { error: *error }),
            Self::Broken(_) | Self::Output(_) => None,
        }
    }

    /// The exit status.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Refused(_) => Exit::Refused,
            // The reader closed the pipe, which is no failure.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::Broken(_) | Self::Output(_) => Exit::Failed,
        }
    }
}

impl From<materia_app::Failure> for Failure {
    fn from(failure: materia_app::Failure) -> Self {
        match failure {
            materia_app::Failure::Refused(refused) => {
                let mut refusal = refused.refusal;
                if let Some(hint) = refused.hint {
                    let gap = if refusal.message.contains('\n') { "\n" } else { "; " };
                    refusal.message = format!("{}{gap}{}", refusal.message, typed(hint));
                }
                Self::Refused(Box::new(refusal))
            }
            materia_app::Failure::Contradiction(options) => Self::usage(contradicts(&options)),
            materia_app::Failure::Broken(what) => Self::Broken(what),
        }
    }
}

/// The hint as a command.
fn typed(hint: Hint) -> &'static str {
    match hint {
        Hint::ListCasts => "`materia casts` lists what there is",
        Hint::OtherId => "choose another `--cast-id`",
        Hint::NameProfile => "set MATERIA_PROFILE_DIR or HOME",
        Hint::NameState => "set MATERIA_STATE_DIR to a folder of yours, or HOME",
        Hint::InProject => "`--workspace project` works in the project folder",
        Hint::TrustJournal => {
            "look at it with `materia casts` and `materia replay ID`; if it is yours, run this again with --trust-journal"
        }
        Hint::BringHere => {
            "`--no-run` only stores the command; `materia journal copy` brings the cast here"
        }
        Hint::FindAgents => {
            "`materia doctor` shows what is there and how to get more, `materia demo` \
             runs a whole workflow without any, `--provider mock` and `--script FILE` answer in an agent's place"
        }
    }
}

/// Options that do not go together, by the names that they have here.
fn contradicts(options: &Contradiction) -> String {
    match options {
        Contradiction::NoRequest(loadout) => {
            return format!(
                "loadout `{loadout}` has agents, and they need a request: write one (`materia cast \"fix the tests\"`, `--request-file FILE`, or `-` for standard input), or begin with `--no-request`"
            );
        }
        Contradiction::VirtualTimeWithoutScript => {
            "`--virtual-time` needs `--script FILE`: only scripted answers know how long they take"
        }
        Contradiction::TimelineInRealTime => {
            "a script's `timeline` is for simulated time: add `--virtual-time`"
        }
        Contradiction::ScriptedWithoutScript => "`--provider scripted` needs `--script FILE`",
        Contradiction::ProviderAndScript(name) => {
            return format!(
                "`--provider {name}` asks an agent, and the script answers every agent socket; choose one, or write `\"only\": true` into the script"
            );
        }
        Contradiction::ChangesWithoutWorkspace => {
            "`--include-changes` needs `--workspace own`; a cast in the project folder has the changes anyway"
        }
        Contradiction::OtherName => "`--cast-id` cannot change the id of a cast",
        Contradiction::RealTime | Contradiction::NotPlanning => return options.to_string(),
        Contradiction::PaceOfAct => {
            "`--interactive` works with `cast`, `link` and `resume`; `materia pause` changes the pace of a cast"
        }
        Contradiction::RecordAndReplay => "`--record` and `--replay` exclude each other; choose one",
        Contradiction::RecordAndScript => {
            "`--record` records agents, and a script answers instead of them; leave one out"
        }
        Contradiction::ReplayAndScript => {
            "`--replay` and `--script` both answer every agent socket; choose one"
        }
    }
    .to_owned()
}

/// Converts lower-level errors the same way as the application does.
macro_rules! as_the_application_says {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                materia_app::Failure::from(error).into()
            }
        })+
    };
}

as_the_application_says!(OpenError, ReadError, LoadError, ClaimError, PostError, EngineError);
