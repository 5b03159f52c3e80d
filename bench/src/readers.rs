//! Many casts on one server with many readers: how long an event takes from its decision to a reader.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::meter::{median, percentile_99};
use crate::report::{Bound, Figure, Report, say};
use crate::server::Server;
use crate::{Outcome, Wanted, room, start};

/// Casts that run at once.
const CASTS: usize = 200;

/// How many of them have a reader.
const READERS: usize = 50;

/// Turns of a cast; each is answered at once, without a model.
const TURNS: usize = 40;

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    let Some(materia) = start::binary()? else {
        say("the binary `materia` is not beside this program");
        return Ok(());
    };
    let folder = room::on_disk()?;
    let project = start::project(&folder, "read", &chain())?;
    // Agreed to once; the server then starts casts without a question.
    start::timed(&mut mocked_cast(&materia, &project), None)?;
    let server = Server::start(&materia, &project)?;
    let delays: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let casts: Vec<_> = (0..CASTS)
            .map(|nth| {
                let server = &server;
                scope.spawn(move || one(server, nth).map_err(|error| error.to_string()))
            })
            .collect();
        let ended = casts.into_iter().map(|cast| {
            cast.join().unwrap_or_else(|_| Err("the thread of a cast panicked".to_owned()))
        });
        ended.collect::<Result<_, String>>()
    })?;
    let delays: Vec<f64> = delays.into_iter().flatten().collect();
    let note = format!(
        "{CASTS} casts of {TURNS} turns at once, {READERS} of them read; {} events that came while the reader was \
         there, from the time of their decision; median {:.1} ms",
        delays.len(),
        median(delays.iter().copied()),
    );
    let figure = Figure::new("readers.event-p99", percentile_99(delays), "ms");
    report.add(figure.limit(Bound::AtMost, 200.0).aim(50.0).note(note));
    Ok(())
}

/// A loadout whose sockets follow one another.
fn chain() -> String {
    let socket = |nth: usize| {
        let edges = if nth + 1 < TURNS {
            json!([{ "when": "always", "to": format!("s{}", nth + 1) }])
        } else {
            json!([])
        };
        (format!("s{nth}"), json!({ "materia": "a", "edges": edges }))
    };
    let sockets: serde_json::Map<String, Value> = (0..TURNS).map(socket).collect();
    let config = json!({
        "activeLoadout": "chain",
        "loadouts": { "chain": { "entry": "s0", "sockets": sockets } },
        "materia": { "a": { "type": "agent", "prompt": "Say something." } },
    });
    config.to_string()
}

fn mocked_cast(materia: &Path, project: &Path) -> std::process::Command {
    let mut command = start::command(materia, project);
    command.args(["cast", "--trust", "--provider", "mock", "go"]);
    command
}

/// Starts a cast, and reads it if it is one of those that are read: milliseconds of each event.
fn one(server: &Server, nth: usize) -> Outcome<Vec<f64>> {
    let body = json!({ "request": "go", "provider": "mock", "castId": format!("c{nth}") });
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "Content-Type: application/json\r\nIdempotency-Key: k{nth}\r\nContent-Length: {length}\r\n"
    );
    let mut answer = String::new();
    ask(server, "POST /api/casts", &head, &body)?.read_to_string(&mut answer)?;
    if !answer.starts_with("HTTP/1.0 20") && !answer.starts_with("HTTP/1.1 20") {
        return Err(format!("cast {nth}: {answer}").into());
    }
    if nth >= READERS {
        return Ok(Vec::new());
    }
    let stream = ask(server, &format!("GET /api/casts/c{nth}/stream"), "", "")?;
    let mut lines = BufReader::new(stream).lines();
    // The answer begins when the reader is there.
    let status = lines.next().ok_or("the stream has no beginning")??;
    if !status.contains(" 200 ") {
        return Err(format!("the stream of cast {nth}: {status}").into());
    }
    let there = now();
    let mut delays = Vec::new();
    let mut is_journal = false;
    for line in lines {
        let line = line?;
        if let Some(kind) = line.strip_prefix("event: ") {
            is_journal = kind == "journal";
        }
        let Some(data) = line.strip_prefix("data: ").filter(|_| is_journal) else { continue };
        let at = now();
        let event: Value = serde_json::from_str(data)?;
        let decided = event["ts"].as_f64().ok_or("an event has no time")?;
        if decided >= there {
            delays.push((at - decided) / 1e3);
        }
        if event["type"]
            .as_str()
            .is_some_and(|kind| ["run.completed", "run.failed", "run.waiting"].contains(&kind))
        {
            break;
        }
    }
    Ok(delays)
}

/// Sends a request on a connection of its own. In the older form of the protocol an answer is not cut into pieces.
fn ask(server: &Server, what: &str, head: &str, body: &str) -> Outcome<TcpStream> {
    let mut connection = TcpStream::connect(&server.host)?;
    let (host, token) = (&server.host, &server.token);
    write!(
        connection,
        "{what} HTTP/1.0\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{head}\r\n{body}"
    )?;
    Ok(connection)
}

/// Microseconds since 1970: the clock that decisions are dated by.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1e6
}
