//! Journals of a project: their ownership, and the check before one is written to.
//!
//! A journal is evidence, never instructions. One that this user's materia did not create in this place is *foreign*:
//! it came with a repository, or was copied, restored, or written by an older version. It can be read, replayed and
//! verified. Any other command needs the user's approval, which makes it the user's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use materia_contract::{BlobHash, RunCreated};
use materia_engine::wait;
use materia_journal::{JOURNAL_FILE, Options, SqliteJournal};
use materia_nats::{Home, NatsJournal, Space};

use crate::Result;
use crate::failure::{Failure, Hint};
use crate::project::place::{CastJournal, InProfile, JournalPlace, SQLITE};
use crate::project::{Found, Project};
use crate::text::sanitize::one_line;

impl Project {
    /// How journals are opened here.
    pub(crate) fn journal_options(&self) -> Options {
        Options { state: self.state_dir.clone(), ..Options::default() }
    }

    /// The same, to write to one: that needs a folder in which it is noted.
    pub(crate) fn options_to_write(&self) -> Result<Options> {
        if self.state_dir.is_none() {
            let message = "the state folder is not known, and a cast cannot run without it";
            return Err(Failure::storage(message).hint(Hint::NameState));
        }
        Ok(self.journal_options())
    }

    /// Opens the journal in a folder to look at it, if there is one.
    pub fn look(&self, root: &Path) -> Result<Option<Arc<dyn CastJournal>>> {
        self.refuse_links(root)?;
        if self.nats_options()?.is_some() {
            return Ok(self.existing_remote()?.map(|journal| journal as Arc<dyn CastJournal>));
        }
        let journal = SqliteJournal::look(root, self.journal_options())?;
        Ok(journal.map(|journal| Arc::new(journal) as Arc<dyn CastJournal>))
    }

    /// Opens the journal in a folder to begin a cast; it is made if it is not there.
    pub(crate) fn open_journal(
        &self,
        root: &Path,
        options: Options,
    ) -> Result<Arc<dyn CastJournal>> {
        if let Some(remote) = self.remote()? {
            return Ok(remote);
        }
        Ok(Arc::new(SqliteJournal::open(root, options)?))
    }

    /// Opens the journal to copy casts from it or to it; it is made if it is not there.
    pub fn journal_to_copy(&self) -> Result<Arc<dyn CastJournal>> {
        let root = self.artifact_root();
        self.refuse_links(&root)?;
        self.open_journal(&root, self.options_to_write()?)
    }

    /// Refuses a folder for casts that a link leads to: what is kept there would be written somewhere else.
    /// Outside of the project, where only its user can have meant it, links on the way are the user's own.
    pub(crate) fn refuse_links(&self, root: &Path) -> Result<()> {
        let Ok(below) = root.strip_prefix(&self.dir) else { return Ok(()) };
        let mut path = self.dir.clone();
        for part in below.components() {
            path.push(part);
            if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
                return Err(Failure::storage(format!(
                    "`{}` is a symbolic link, and Materia does not store casts behind links: replace the link by a folder, or name another folder in your own profile (`artifactDir`)",
                    self.shown(&path)
                )));
            }
        }
        Ok(())
    }

    /// Whether the journal in a folder is foreign: the user must trust it before it is written to.
    pub fn has_foreign_journal(&self, root: &Path) -> Result<bool> {
        self.refuse_links(root)?;
        if self.is_remote() || !SqliteJournal::is_foreign_in(root, &self.journal_options())? {
            return Ok(false);
        }
        // One that is no journal at all is refused as such.
        Ok(self.look(root)?.is_some_and(|journal| journal.is_foreign()))
    }

    /// The user vouches for the journal in a folder: it is the user's own from now on.
    pub fn adopt(&self, root: &Path, warnings: &mut Vec<String>) -> Result<()> {
        self.refuse_links(root)?;
        let adopted = SqliteJournal::adopt(root, &self.options_to_write()?)?;
        if let Some(commands) = adopted.map(|adopted| adopted.commands).filter(|count| *count > 0) {
            warnings.push(format!(
                "removed {commands} waiting commands from `{}`, because their sender is not known",
                self.shown(&root.join(JOURNAL_FILE))
            ));
        }
        Ok(())
    }

    /// The same cast in a journal that the user has just vouched for.
    pub fn adopt_found(&self, found: Found, warnings: &mut Vec<String>) -> Result<Found> {
        let Found { root, journal, id } = found;
        // Nothing in this process has it open while it changes.
        drop(journal);
        self.adopt(&root, warnings)?;
        let gone = || Failure::storage(format!("`{}` is gone", self.shown(&root)));
        let journal = self.look(&root)?.ok_or_else(gone)?;
        Ok(Found { root, journal, id })
    }

    /// The journal in a folder as people know it.
    pub fn journal_file(&self, root: &Path) -> PathBuf {
        root.join(JOURNAL_FILE)
    }
}

impl Project {
    /// Where its casts are on NATS; `None` if they are in a file.
    pub fn nats_options(&self) -> Result<Option<materia_nats::Options>> {
        let JournalPlace { journal, space, credentials, certificate, patience, worker } =
            &*self.place;
        if journal.as_deref() == Some(SQLITE) {
            return Ok(None);
        }
        let profile = self.in_profile.get_or_init(|| self.read_profile());
        let url = journal.as_ref().or(profile.journal.as_ref()).filter(|url| *url != SQLITE);
        let Some(url) = url else { return Ok(None) };
        let bad = |error: materia_nats::BadOption| Failure::usage(error.to_string());
        let space = match space.as_ref().or(profile.space.as_ref()) {
            Some(name) => Space::parse(name).map_err(bad)?,
            None => self.usual_space(),
        };
        let mut options = materia_nats::Options::new(url, space).map_err(bad)?;
        options.credentials.clone_from(credentials);
        options.certificate.clone_from(certificate);
        if let Some(replicas) = profile.replicas {
            options.replicas = usize::try_from(replicas.clamp(1, 5)).unwrap_or(1);
        }
        if let Some(seconds) = profile.lease_seconds {
            options.lease = Duration::from_secs(seconds.clamp(3, 3_600).into());
        }
        options.folder = Some(self.dir.to_string_lossy().into_owned());
        options.yields = worker.is_some();
        options.runtime.clone_from(worker);
        options.patience = patience.unwrap_or(options.patience);
        Ok(Some(options))
    }

    /// Refuses to carry on a run on NATS whose project is elsewhere: its files are there (M7, M10).
    pub(crate) fn refuse_elsewhere(&self, found: &Found, created: &RunCreated) -> Result<()> {
        // Files of a workspace travel. A worker looks at the entry on its list instead.
        let anywhere = created.workspace.is_some() || self.place.worker.is_some();
        if anywhere || !found.journal.is_remote() {
            return Ok(());
        }
        let Some(journal) = self.remote()? else { return Ok(()) };
        let Some(home) = wait(journal.home(&found.id))? else { return Ok(()) };
        let here = Home::here(&self.dir.to_string_lossy());
        let real = |folder: &str| std::fs::canonicalize(folder).ok();
        let same = home.folder == here.folder
            || real(&home.folder).is_some_and(|there| Some(there) == real(&here.folder));
        if same && home.host == here.host {
            return Ok(());
        }
        let (folder, host) = (one_line(&home.folder, 300), one_line(&home.host, 100));
        Err(Failure::resolution(format!(
            "cast `{}` works in `{folder}` on `{host}`, and its files are not here: run the command there",
            found.id
        ))
        .hint(Hint::BringHere))
    }

    fn read_profile(&self) -> InProfile {
        let Some(profile) = materia_compiler::profile(&self.sources) else {
            return InProfile::default();
        };
        InProfile {
            journal: profile.field("journal"),
            space: profile.field("space"),
            replicas: profile.field("replicas"),
            lease_seconds: profile.field("leaseSeconds"),
        }
    }

    fn usual_space(&self) -> Space {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy();
        let mark = BlobHash::of(self.dir.as_os_str().as_encoded_bytes()).to_string();
        Space::of_folder(&name, &mark)
    }

    /// The journal on NATS, if the user keeps casts there. Connects at the first call.
    pub fn remote(&self) -> Result<Option<Arc<NatsJournal>>> {
        if let Some(journal) = self.connected.get() {
            return Ok(Some(Arc::clone(journal)));
        }
        let Some(options) = self.nats_options()? else { return Ok(None) };
        let journal = Arc::new(NatsJournal::open(options)?);
        Ok(Some(Arc::clone(self.connected.get_or_init(|| journal))))
    }

    /// The same to read: a space that is not there is not made.
    pub fn existing_remote(&self) -> Result<Option<Arc<NatsJournal>>, Failure> {
        if let Some(journal) = self.connected.get() {
            return Ok(Some(Arc::clone(journal)));
        }
        let Some(options) = self.nats_options()? else { return Ok(None) };
        let Some(journal) = NatsJournal::open_existing(options)? else { return Ok(None) };
        Ok(Some(Arc::clone(self.connected.get_or_init(|| Arc::new(journal)))))
    }

    /// Where its casts are kept, for a person.
    #[must_use]
    pub fn shown_place(&self) -> String {
        match self.nats_options() {
            Ok(Some(options)) => {
                format!("the space `{}` on {}", options.space.as_str(), options.shown())
            }
            Ok(None) | Err(_) => format!("`{}`", self.shown(&self.artifact_root())),
        }
    }

    /// The same without a connection: whether casts are on NATS.
    pub fn is_remote(&self) -> bool {
        matches!(self.nats_options(), Ok(Some(_)) | Err(_))
    }
}

impl Found {
    /// Whether the user must trust its journal before a command is applied to it.
    pub fn is_foreign(&self) -> bool {
        self.journal.is_foreign()
    }
}
