//! Changes of configurations, and trying them without a cast.
//!
//! * [`config_writer`]: changes a configuration file. [`drafts`]: edits that are not saved yet.
//! * [`templates`]: configurations to start from.
//! * [`simulate`]: walks through a loadout without running anything. [`try_utility`]: runs one utility.

pub mod config_writer;
pub mod drafts;
pub mod simulate;
pub mod templates;
pub mod try_utility;
