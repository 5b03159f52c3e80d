//! The binary from outside: what is typed, what is printed, what lies on the disk afterwards.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod apart;
mod archiving;
mod asking;
mod bench;
mod beside;
mod blame;
mod bodies;
mod carrying;
mod cases;
mod casting;
mod completing;
mod conformance;
mod crashing;
mod crowd;
mod demo;
mod doclines;
mod docs;
mod ending;
mod evidence;
mod examples;
mod exploring;
mod firstday;
mod fuzzing;
mod growing;
mod hearing;
mod leaving;
mod linking;
mod logging;
mod looking;
mod moving;
mod obeying;
mod pages;
mod pictures;
mod redacting;
mod refusing;
mod serving;
mod shipped;
mod stopping;
mod storage;
mod telling;
mod terminal;
mod trusting;
mod whatif;
mod why;
