//! The request guard: a table of requests, each refused for one reason, beside a twin that passes.

use std::fmt::Write as _;

use serde_json::json;

use crate::stage::{Answer, Stage};

/// Requests: public ones, and those that need authentication.
const TARGETS: [(&str, &str, &str); 7] = [
    ("GET", "/api/casts", ""),
    ("POST", "/api/casts", "{\"loadout\":\"none such\"}"),
    ("GET", "/api/stream?project=none", ""),
    ("GET", "/", ""),
    ("GET", "/assets/none.js", ""),
    ("GET", "/api/none", ""),
    ("GET", "/metrics", ""),
];

/// A request, line by line.
struct Lines {
    target: String,
    version: &'static str,
    host: Vec<String>,
    more: Vec<String>,
}

fn send(stage: &Stage, method: &str, body: &str, lines: &Lines) -> Answer {
    let mut text = format!("{method} {} {}\r\n", lines.target, lines.version);
    for host in &lines.host {
        let _ = write!(text, "Host: {host}\r\n");
    }
    for line in &lines.more {
        let _ = write!(text, "{line}\r\n");
    }
    if method == "POST"
        && !lines.more.iter().any(|line| line.to_ascii_lowercase().starts_with("content-type"))
    {
        text.push_str("Content-Type: application/json\r\n");
    }
    if !body.is_empty() {
        let _ = write!(text, "Content-Length: {}\r\n", body.len());
    }
    text.push_str("Connection: close\r\n\r\n");
    text.push_str(body);
    stage.raw(text.as_bytes())
}

/// No answer shows the token, lets another page read it, or lacks what the guard adds.
fn is_guarded(stage: &Stage, answer: &Answer, what: &str) {
    assert!(!answer.body.contains(&stage.server.token), "{what}: {answer:?}");
    assert!(!answer.head.contains(&stage.server.token), "{what}: {answer:?}");
    assert!(!answer.head.contains("access-control-"), "{what}: {answer:?}");
    for header in [
        "content-security-policy: default-src 'self'; frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
        "cross-origin-opener-policy: same-origin",
    ] {
        assert!(answer.head.contains(header), "{what}: no {header}: {answer:?}");
    }
}

/// Rows of headers that are refused wherever they are sent; each is sent alone beside good ones.
fn refused_hosts(port: &str) -> Vec<Vec<String>> {
    let one = |host: &str| vec![host.to_owned()];
    vec![
        vec![],
        vec![format!("127.0.0.1:{port}"), format!("127.0.0.1:{port}")],
        vec![format!("127.0.0.1:{port}"), "evil.example".to_owned()],
        one("evil.example"),
        one(&format!("evil.example:{port}")),
        one(&format!("127.0.0.1.evil.example:{port}")),
        one(&format!("localhost.:{port}")),
        one(&format!("localhost.evil:{port}")),
        one("127.0.0.1:1"),
        one("127.0.0.1"),
        one("localhost"),
        one(&format!("0.0.0.0:{port}")),
        one(&format!("127.1:{port}")),
        one(&format!("127.0.0.2:{port}")),
        one(&format!("2130706433:{port}")),
        one(&format!("0x7f.1:{port}")),
        one(&format!("[::]:{port}")),
        one(&format!("[::ffff:127.0.0.1]:{port}")),
        one(&format!("user@127.0.0.1:{port}")),
        one(""),
    ]
}

fn refused_headers(port: &str) -> Vec<String> {
    let line = |name: &str, value: &str| format!("{name}: {value}");
    vec![
        line("Origin", "null"),
        line("Origin", "http://evil.example"),
        line("Origin", &format!("https://127.0.0.1:{port}")),
        line("Origin", "http://127.0.0.1:1"),
        line("Origin", &format!("http://localhost.evil:{port}")),
        line("Origin", &format!("http://127.0.0.1.evil.example:{port}")),
        line("Origin", "file://"),
        line("Origin", "chrome-extension://abcdefghijklmnop"),
        line("Origin", ""),
        line("Origin", &format!("http://127.0.0.1:{port}/")),
        line("Referer", "http://evil.example/"),
        line("Referer", &format!("http://127.0.0.1:{port}.evil.example/")),
        line("Referer", &format!("http://evil.example/?http://127.0.0.1:{port}/")),
        line("Sec-Fetch-Site", "cross-site"),
        line("Sec-Fetch-Site", "same-site"),
        line("Sec-Fetch-Site", "nonsense"),
        line("X-Forwarded-Host", "evil.example"),
        line("X-Forwarded-For", "10.0.0.1"),
        line("Forwarded", "host=evil.example"),
        line("Transfer-Encoding", "chunked"),
    ]
}

fn good(stage: &Stage, target: &str, more: Vec<String>) -> Lines {
    let host = vec![stage.host().to_owned()];
    let mut lines = vec![format!("Authorization: Bearer {}", stage.server.token)];
    lines.extend(more);
    Lines { target: target.to_owned(), version: "HTTP/1.1", host, more: lines }
}

/// Statuses of a request that got as far as its route.
fn has_passed(answer: &Answer) -> bool {
    matches!(answer.status, 200 | 201 | 404 | 409 | 422)
}

#[test]
fn whoever_is_not_ours_gets_nowhere() {
    let stage = Stage::new();
    let port = stage.port().to_owned();
    let mut asked = 0;
    for (method, target, body) in TARGETS {
        let twin = send(&stage, method, body, &good(&stage, target, Vec::new()));
        assert!(has_passed(&twin), "{method} {target}: {twin:?}");
        for host in refused_hosts(&port) {
            let lines = Lines { host: host.clone(), ..good(&stage, target, Vec::new()) };
            let answer = send(&stage, method, body, &lines);
            assert!(matches!(answer.status, 400 | 403), "{method} {target} {host:?}: {answer:?}");
            // What the HTTP library itself refuses may lack our headers.
            if answer.status == 403 {
                is_guarded(&stage, &answer, target);
            }
            asked += 1;
        }
        for line in refused_headers(&port) {
            let answer = send(&stage, method, body, &good(&stage, target, vec![line.clone()]));
            assert!(
                matches!(answer.status, 400 | 403 | 411),
                "{method} {target} {line}: {answer:?}"
            );
            asked += 1;
        }
        for host in
            [format!("localhost:{port}"), format!("LOCALHOST:{port}"), format!("[::1]:{port}")]
        {
            let lines = Lines { host: vec![host.clone()], ..good(&stage, target, Vec::new()) };
            let answer = send(&stage, method, body, &lines);
            assert!(has_passed(&answer), "{method} {target} {host}: {answer:?}");
            is_guarded(&stage, &answer, target);
            asked += 1;
        }
        for name in ["127.0.0.1", "localhost", "[::1]"] {
            let own = format!("http://{name}:{port}");
            for line in [
                format!("Origin: {own}"),
                format!("Referer: {own}/casts/x?at=1"),
                "Sec-Fetch-Site: same-origin".to_owned(),
            ] {
                let answer = send(&stage, method, body, &good(&stage, target, vec![line.clone()]));
                assert!(has_passed(&answer), "{method} {target} {line}: {answer:?}");
                asked += 1;
            }
        }
    }
    assert!(asked >= 350, "{asked}");
    assert_eq!(stage.get("/api/casts").json()["items"], json!([]), "nothing has changed");
}

/// The nonce for styles in the policy of an answer.
fn nonce_of(answer: &Answer) -> Option<&str> {
    let (_, rest) = answer.head.split_once("style-src 'self' 'nonce-")?;
    Some(rest.split_once('\'')?.0)
}

#[test]
fn each_answer_with_the_page_has_a_nonce_of_its_own_for_styles_and_no_other_answer_has_one() {
    let stage = Stage::new();
    let (one, two, list) = (stage.get("/"), stage.get("/casts"), stage.get("/api/casts"));
    let nonces = [nonce_of(&one).unwrap(), nonce_of(&two).unwrap()];
    assert_eq!(nonces.map(str::len), [32, 32], "{nonces:?}");
    assert_ne!(nonces[0], nonces[1]);
    assert_eq!(nonce_of(&list), None, "{list:?}");
    for answer in [&one, &two, &list] {
        assert!(!answer.head.contains("unsafe-"), "{answer:?}");
        assert!(!answer.body.contains("MATERIA_NONCE"), "{answer:?}");
    }
}

#[test]
fn without_a_token_there_is_the_page_and_nothing_else() {
    let stage = Stage::new();
    let token = stage.server.token.clone();
    let half = &token[..32];
    for (method, target, body) in TARGETS {
        let is_page = target == "/" || target.starts_with("/assets");
        for line in [
            String::new(),
            format!("Authorization: Bearer {half}"),
            format!("Authorization: Bearer {token}0"),
            format!("Authorization: Basic {token}"),
            format!("Authorization: {token}"),
            format!("Authorization: bearer {}", "0".repeat(64)),
            format!("Cookie: materia_{}={token}", stage.port()),
            format!("X-Materia-Key: {token}"),
            format!("Authorization: Bearer {token}\r\nAuthorization: Bearer {token}"),
        ] {
            let host = vec![stage.host().to_owned()];
            let more: Vec<String> =
                Some(line.clone()).filter(|line| !line.is_empty()).into_iter().collect();
            let lines = Lines { target: target.to_owned(), version: "HTTP/1.1", host, more };
            let answer = send(&stage, method, body, &lines);
            let expected =
                if is_page { matches!(answer.status, 200 | 404) } else { answer.status == 401 };
            assert!(expected, "{method} {target} {line}: {answer:?}");
            is_guarded(&stage, &answer, target);
        }
        // In the address it counts for nothing, and is not repeated.
        let answer = send(
            &stage,
            method,
            body,
            &Lines {
                target: format!(
                    "{target}{}token={token}",
                    if target.contains('?') { '&' } else { '?' }
                ),
                version: "HTTP/1.1",
                host: vec![stage.host().to_owned()],
                more: Vec::new(),
            },
        );
        assert!(is_page || answer.status == 401, "{method} {target}: {answer:?}");
        is_guarded(&stage, &answer, target);
    }
    let health = stage.raw(
        format!("GET /api/health HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", stage.host())
            .as_bytes(),
    );
    assert_eq!((health.status, health.json()), (200, json!({ "status": "ok", "version": "test" })));
}

#[test]
fn only_a_typed_address_may_come_from_nowhere() {
    let stage = Stage::new();
    let none = || vec!["Sec-Fetch-Site: none".to_owned()];
    for path in ["/", "/casts", "/casts/x", "/inbox", "/api/health"] {
        let answer = send(&stage, "GET", "", &good(&stage, path, none()));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
    for (method, target, body) in [
        ("GET", "/api/casts", ""),
        ("GET", "/metrics", ""),
        ("POST", "/api/casts", "{}"),
        ("POST", "/api/session", "{\"code\":\"x\"}"),
        ("POST", "/", "{}"),
    ] {
        let answer = send(&stage, method, body, &good(&stage, target, none()));
        assert_eq!(answer.status, 403, "{method} {target}: {answer:?}");
    }
}

#[test]
fn a_file_of_the_users_leads_to_the_page_that_signs_in_and_to_nothing_else() {
    let stage = Stage::new();
    let opened = |site: &str, mode: &str, dest: &str| {
        [("Site", site), ("Mode", mode), ("Dest", dest)]
            .map(|(name, word)| format!("Sec-Fetch-{name}: {word}"))
            .to_vec()
    };
    let navigated = opened("cross-site", "navigate", "document");
    let answer = send(&stage, "GET", "", &good(&stage, "/signin", navigated.clone()));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.contains("content-type: text/html"), "{answer:?}");
    for path in
        ["/", "/casts", "/signin/x", "/signin?x=1", "/api/health", "/api/casts", "/assets/page.js"]
    {
        let answer = send(&stage, "GET", "", &good(&stage, path, navigated.clone()));
        assert_eq!(answer.status, 403, "{path}: {answer:?}");
    }
    for (site, mode, dest) in [
        ("cross-site", "no-cors", "document"),
        ("cross-site", "navigate", "iframe"),
        ("cross-site", "navigate", "empty"),
        ("same-site", "navigate", "document"),
    ] {
        let answer = send(&stage, "GET", "", &good(&stage, "/signin", opened(site, mode, dest)));
        assert_eq!(answer.status, 403, "{site} {mode} {dest}: {answer:?}");
    }
    let posted = send(&stage, "POST", "{}", &good(&stage, "/signin", navigated));
    assert_eq!(posted.status, 403, "{posted:?}");
}

#[test]
fn what_changes_something_is_json() {
    let stage = Stage::new();
    let body = "{\"loadout\":\"none such\"}";
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin1",
        "text/json",
        "application/jsonx",
        "",
    ] {
        let line = format!("Content-Type: {kind}");
        let answer = send(&stage, "POST", body, &good(&stage, "/api/casts", vec![line]));
        assert_eq!(answer.status, 415, "{kind}: {answer:?}");
    }
    for kind in ["application/json", "Application/JSON", "application/json; charset=utf-8"] {
        let line = format!("Content-Type: {kind}");
        let answer = send(&stage, "POST", body, &good(&stage, "/api/casts", vec![line]));
        assert_eq!(answer.status, 422, "{kind}: {answer:?}");
    }
}

#[test]
fn a_path_is_written_in_one_way() {
    let stage = Stage::new();
    for path in [
        "/x/../api/casts",
        "//api/casts",
        "/api//casts",
        "/%2e%2e/api/casts",
        "/api%2fcasts",
        "/%",
        "/%0",
        "/%zz",
        "/%00",
        "/api/casts;x=1",
        "/api\\casts",
        "/api/casts/..",
        "/./api/casts",
        "/api/./casts",
        "/%c0%af",
        "/api/casts/%2e%2e%2f",
        "/%5c",
        "/api/casts/%0d%0ax",
        "/api/casts/one/files/../../journal.db",
        "/api/casts/one/files/%2e%2e/x",
        "/%ff",
        "/%25%32%65",
    ] {
        let answer = send(&stage, "GET", "", &good(&stage, path, Vec::new()));
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
    }
    for (method, status) in
        [("TRACE", 405), ("OPTIONS", 405), ("CONNECT", 405), ("PATCH", 405), ("FLY", 405)]
    {
        let target =
            if method == "CONNECT" { stage.host().to_owned() } else { "/api/casts".to_owned() };
        let answer = send(&stage, method, "", &good(&stage, &target, Vec::new()));
        assert!(answer.status == status || answer.status == 400, "{method}: {answer:?}");
        assert!(!answer.head.contains("access-control-"), "{method}: {answer:?}");
    }
    // The target may name the host itself; then it must be ours.
    let own = format!("http://{}/api/health", stage.host());
    assert_eq!(send(&stage, "GET", "", &good(&stage, &own, Vec::new())).status, 200);
    let other = "http://evil.example/api/health";
    assert_eq!(send(&stage, "GET", "", &good(&stage, other, Vec::new())).status, 403);
}

#[test]
fn what_is_too_large_or_malformed_is_refused_and_the_next_one_is_answered() {
    let stage = Stage::new();
    let host = stage.host();
    let large = "x".repeat(2 << 20);
    assert_eq!(stage.post("/api/casts", &json!({ "request": large })).status, 413);
    let head =
        format!("GET /api/health HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "y".repeat(100 << 10));
    assert!(matches!(stage.raw(head.as_bytes()).status, 431 | 400), "a head of 100 KiB");
    assert!(matches!(stage.raw(b"nonsense\r\n\r\n").status, 400));
    assert!(matches!(stage.raw(b"GET / HTTP/1.0\r\n\r\n").status, 400 | 403));
    let both = format!(
        "POST /api/casts HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/casts HTTP/1.1\r\nHost: {host}\r\n\r\n",
        stage.server.token
    );
    let answer = stage.raw(both.as_bytes());
    assert!(matches!(answer.status, 400 | 411), "{answer:?}");
    assert_eq!(
        answer.body.matches("HTTP/1.1").count(),
        0,
        "what follows is not answered: {answer:?}"
    );
    assert_eq!(stage.get("/api/health").status, 200);
    // A second request on the connection is looked at like the first.
    let two = format!(
        "GET /api/health HTTP/1.1\r\nHost: {host}\r\n\r\nGET /api/casts HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    );
    let answer = stage.raw(two.as_bytes());
    assert!(answer.body.contains("HTTP/1.1 403"), "{answer:?}");
}

#[test]
fn a_page_signs_in_once_with_a_code() {
    let stage = Stage::new();
    let code = stage.post("/api/codes", &json!({})).json();
    assert!(code["url"].as_str().unwrap().starts_with(&format!("{}/#code=", stage.server.url)));
    let body = json!({ "code": code["code"] }).to_string();
    let host = stage.host();
    let sign_in = format!(
        "POST /api/session HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let answer = stage.raw(sign_in.as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(stage.raw(sign_in.as_bytes()).status, 401, "a code works once");
    let cookie = answer.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let key = answer.json()["key"].as_str().unwrap().to_owned();
    let with = |headers: &str| {
        stage
            .raw(
                format!(
                    "GET /api/casts HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
                )
                .as_bytes(),
            )
            .status
    };
    assert_eq!(with(&format!("Cookie: {cookie}\r\nX-Materia-Key: {key}\r\n")), 200);
    assert_eq!(with(&format!("Cookie: {cookie}\r\n")), 401, "the cookie alone does nothing");
    assert_eq!(with(&format!("X-Materia-Key: {key}\r\n")), 401);
}
