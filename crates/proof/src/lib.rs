//! Static analysis of a plan, before it runs.
//!
//! [`explore`] takes every history that the kernel can take. [`bounds`] computes from the plan alone the most turns
//! of each node.

pub mod bounds;
pub mod dice;
pub mod explore;
pub mod fuzz;
