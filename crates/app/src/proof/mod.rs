//! Questions about a loadout before it runs, and about casts that ran against the loadout of today.
//!
//! * [`bounds`]: maximum number of turns of a loadout. [`explore`]: every history of one.
//! * [`crashtest`]: one cast with memory lost at every point. [`fuzz`]: histories by chance.
//! * [`recorded`]: a finished cast as a script and as a conformance case. [`play`]: runs a plan in memory.
//! * [`own_cases`]: project files for the author's conformance cases.
//! * [`whatif`]: the answers of a cast played against the loadout of today.

pub mod bounds;
pub mod crashtest;
pub mod explore;
pub mod fuzz;
pub mod own_cases;
pub mod play;
pub mod recorded;
pub mod whatif;
