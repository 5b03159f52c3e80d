//! Files beneath a folder that other programs may write to as well.
//!
//! A path can be redirected: a program that may rename a folder can put a link in its place, so that data for
//! `sockets/a/1-1.stdout` is written elsewhere. A [`Folder`] is a *handle*, which stays the folder it
//! was, and all access is beneath it.
//!
//! # Invariants
//!
//! * No symbolic link is followed, in no part of a path, and no path leads out (`openat2` with `RESOLVE_BENEATH` and
//!   `RESOLVE_NO_SYMLINKS`; folder by folder with `O_NOFOLLOW` where the system has no `openat2`).
//! * A write makes a new file and never opens the file that has the name already: a hard link of a file
//!   elsewhere, a pipe or a device in its place is removed, not written to. Only [`Folder::append`] continues a
//!   file, which must be a plain one with one name.
//! * New files are for their owner alone: files 0600, folders 0700. [`Folder::for_umask`] is for exports that people ask for.
//!
//! Names and their meaning are the callers'.

mod anchor;
mod folder;
mod hard_links;
mod remove;
mod resolve;
mod temporary;
mod typed;

pub use anchor::Anchor;
pub use folder::Folder;
pub use hard_links::make_own;
pub use temporary::{Temporary, sweep, sweep_now};
pub use typed::Typed;

#[cfg(test)]
mod tests;
