//! What a plan can do, found out before it does it.
//!
//! [`explore`] takes every history that the kernel can take.
//! [`bounds`] says from the plan alone how many turns each node can have at most.

pub mod bounds;
pub mod explore;
