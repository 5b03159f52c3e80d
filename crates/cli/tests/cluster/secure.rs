//! Encrypted connections (`tls://`, `MATERIA_NATS_CA`) and files with credentials (`MATERIA_NATS_CREDS`) (M1).

use std::path::Path;
use std::process::Command;

use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran};
use crate::server::Servers;
use crate::{CAST, bench};

/// Runs `openssl`, which makes the certificates.
fn openssl(folder: &Path, words: &str) {
    let made = Command::new("openssl").args(words.split(' ')).current_dir(folder).output();
    let made = made.expect("openssl is needed: install it");
    assert!(made.status.success(), "{words}: {}", String::from_utf8_lossy(&made.stderr));
}

/// A certificate of a server on this machine, signed by `ca.pem`; and `other.pem`, which signed nothing.
fn certificates(folder: &Path) {
    let key = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30";
    openssl(folder, &format!("{key} -keyout ca.key -out ca.pem -subj /CN=tests"));
    openssl(folder, &format!("{key} -keyout other.key -out other.pem -subj /CN=other"));
    let leaf = "-addext basicConstraints=critical,CA:FALSE -addext subjectAltName=IP:127.0.0.1";
    let signed = "-CA ca.pem -CAkey ca.key -keyout server.key -out server.pem -subj /CN=server";
    openssl(folder, &format!("{key} {leaf} {signed}"));
}

fn run(bench: &Bench, url: &str, variables: &[(&str, &Path)], words: &[&str]) -> Ran {
    let mut command = bench.command(words);
    command.env("MATERIA_JOURNAL", url).env("MATERIA_SPACE", "tests");
    command.envs(variables.iter().copied()).output().unwrap().into()
}

/// M1: a cast over an encrypted connection; a server that another one has signed is refused.
#[test]
fn a_cast_goes_over_an_encrypted_connection() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let place = folder.path().display();
    let tls =
        format!("tls {{ cert_file: \"{place}/server.pem\", key_file: \"{place}/server.key\" }}");
    let servers = Servers::start(1, &tls);
    let url = format!("tls://127.0.0.1:{}", servers.port(0));
    let (ca, other) = (folder.path().join("ca.pem"), folder.path().join("other.pem"));
    let bench = bench();
    run(&bench, &url, &[("MATERIA_NATS_CA", &ca)], &CAST).exits(0);
    let shown = run(&bench, &url, &[("MATERIA_NATS_CA", &ca)], &["show", "c1", "--json"]);
    assert_eq!(shown.exits(0).json()["status"], "completed");
    for variables in [&[][..], &[("MATERIA_NATS_CA", other.as_path())]] {
        let ran = run(&bench, &url, variables, &["casts"]).exits(2);
        assert!(ran.err.contains("no NATS server answers at"), "{ran:?}");
    }
    let missing = folder.path().join("missing.pem");
    let ran = run(&bench, &url, &[("MATERIA_NATS_CA", &missing)], &["casts"]).exits(2);
    assert!(ran.err.contains("missing.pem` cannot be used for the journal"), "{ran:?}");
}

/// A token of NATS: claims, signed by a key.
fn token(issuer: &KeyPair, subject: &KeyPair, name: &str, claims: &Value) -> String {
    let header = json!({"typ": "JWT", "alg": "ed25519-nkey"}).to_string();
    let body = json!({
        "jti": name, "iat": 1_700_000_000, "iss": issuer.public_key(),
        "sub": subject.public_key(), "name": name, "nats": claims,
    });
    let encoded = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
    let signed = format!("{}.{}", encoded(&header), encoded(&body.to_string()));
    let signature = issuer.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
}

fn credentials(path: &Path, account: &KeyPair, user: &KeyPair) {
    let claims = json!({
        "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2,
    });
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        token(account, user, "u", &claims),
        user.seed().unwrap()
    );
    std::fs::write(path, text).unwrap();
}

/// M1: a cast with a file of credentials; without it, or with those of a stranger, the server refuses.
#[test]
fn a_cast_needs_credentials_where_the_server_does() {
    let (operator, system, account) =
        (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
    let limits = |storage: i32| {
        json!({
            "type": "account", "version": 2, "default_permissions": {"pub": {}, "sub": {}},
            "limits": {
                "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1,
                "wildcards": true, "conn": -1, "leaf": -1, "mem_storage": storage,
                "disk_storage": storage, "streams": storage, "consumer": storage,
            },
        })
    };
    let config = format!(
        "operator: \"{}\"\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n{}: {}\n{}: {}\n}}",
        token(&operator, &operator, "o", &json!({"type": "operator", "version": 2})),
        system.public_key(),
        system.public_key(),
        token(&operator, &system, "s", &limits(0)),
        account.public_key(),
        token(&operator, &account, "a", &limits(-1)),
    );
    let servers = Servers::start(1, &config);
    let folder = tempfile::tempdir().unwrap();
    let (own, strange) = (folder.path().join("own.creds"), folder.path().join("strange.creds"));
    credentials(&own, &account, &KeyPair::new_user());
    credentials(&strange, &KeyPair::new_account(), &KeyPair::new_user());
    let (bench, url) = (bench(), servers.url());
    run(&bench, &url, &[("MATERIA_NATS_CREDS", &own)], &CAST).exits(0);
    let list = run(&bench, &url, &[("MATERIA_NATS_CREDS", &own)], &["casts", "--json"]).exits(0);
    assert_eq!(list.lines()[0]["castId"], "c1");
    for variables in [&[][..], &[("MATERIA_NATS_CREDS", strange.as_path())]] {
        let ran = run(&bench, &url, variables, &["casts"]).exits(2);
        assert!(ran.err.contains("refuses"), "{ran:?}");
    }
}
