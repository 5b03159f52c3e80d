//! Shapes of the tokens of well-known services.

use super::found::Found;

/// The longest token that is held back whole; of a longer one the rest is dropped as it comes.
pub(super) const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// Shape of a token: its prefix, and its minimum length.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) prefix: &'static [u8],
    body_min: usize,
    /// Whether its body has dots in it, and must have.
    dotted: bool,
}

const fn shape(prefix: &'static str, body_min: usize) -> Shape {
    Shape { prefix: prefix.as_bytes(), body_min, dotted: false }
}

const fn dotted(prefix: &'static str, body_min: usize) -> Shape {
    Shape { prefix: prefix.as_bytes(), body_min, dotted: true }
}

/// Tokens of model providers, code hosts, package registries, clouds and other services.
pub(super) const SHAPES: &[Shape] = &[
    shape("sk-", 20),
    shape("sk_live_", 16),
    shape("sk_test_", 16),
    shape("rk_live_", 16),
    shape("whsec_", 20),
    shape("ghp_", 30),
    shape("gho_", 30),
    shape("ghu_", 30),
    shape("ghs_", 30),
    shape("ghr_", 30),
    shape("github_pat_", 30),
    shape("glpat-", 18),
    shape("gldt-", 18),
    shape("glrt-", 18),
    shape("AIza", 30),
    shape("AKIA", 16),
    shape("ASIA", 16),
    shape("xoxa-", 10),
    shape("xoxb-", 10),
    shape("xoxe-", 10),
    shape("xoxp-", 10),
    shape("xoxr-", 10),
    shape("xoxs-", 10),
    shape("xapp-", 20),
    shape("npm_", 30),
    shape("pypi-", 40),
    shape("dckr_pat_", 20),
    shape("hf_", 30),
    shape("gsk_", 40),
    shape("xai-", 40),
    shape("pplx-", 40),
    shape("r8_", 30),
    shape("dop_v1_", 40),
    shape("shpat_", 30),
    shape("lin_api_", 30),
    shape("ntn_", 30),
    shape("glsa_", 30),
    shape("dapi", 32),
    shape("tskey-", 20),
    shape("AGE-SECRET-KEY-1", 40),
    dotted("ya29.", 20),
    dotted("eyJ", 40),
    dotted("SG.", 40),
    dotted("hvs.", 20),
];

/// Whether a token of this shape stands at the beginning of `rest`.
pub(super) fn look_for(shape: &Shape, rest: &[u8], last: bool) -> Found {
    let Some(body) = rest.strip_prefix(shape.prefix) else {
        let begun = !last && shape.prefix.starts_with(rest);
        return if begun { Found::Perhaps } else { Found::Nothing };
    };
    let end = body.iter().position(|byte| !is_body(*byte, shape.dotted));
    let length = end.unwrap_or(body.len());
    let open = end.is_none() && !last;
    if open && length <= TOKEN_BYTES_MAX {
        return Found::Perhaps;
    }
    let body = &body[..length];
    let looks_random = body.iter().any(u8::is_ascii_digit)
        && body.iter().any(u8::is_ascii_alphabetic)
        && (!shape.dotted || shape.prefix.ends_with(b".") || body.contains(&b'.'));
    if length >= shape.body_min && looks_random {
        Found::Secret { length: shape.prefix.len() + length, open }
    } else {
        Found::Nothing
    }
}

/// Whether a byte can stand inside of a word.
pub(super) fn is_body(byte: u8, dotted: bool) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || (dotted && byte == b'.')
}
