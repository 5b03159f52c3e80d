//! How payloads wait on an edge, and when a socket starts by itself.

use indexmap::IndexMap;
use materia_contract::{
    Cron, CronError, DedupeBy, Delivery, DeliveryMode, EdgeDoc, Guard, LABEL_RULE, Path,
    PayloadPart, Policy, PolicyDoc, Root, Socket, Transform, TransformDoc, Trigger, is_label,
};

use super::Place;
use super::paths::{self, path};
use super::target::Target;
use crate::fault::{Fault, Faults};
use crate::layers::Loaded;

/// The time zone of a schedule that names none.
const TIMEZONE_DEFAULT: &str = "UTC";

/// Reads how payloads wait on an edge; `None` if that could not be read.
pub(super) fn read(
    loaded: &Loaded,
    doc: &EdgeDoc,
    to: &Target,
    place: &Place,
    faults: &mut Faults,
) -> Option<Delivery> {
    let mode = doc.delivery_mode.unwrap_or(DeliveryMode::Queue);
    let transform = match &doc.transform {
        Some(doc) => transform(loaded, doc, &place.child("transform"), faults).map(Some),
        None => Some(None),
    };
    let mut delivery = Delivery::of(mode);
    delivery.max_buffered = doc.max_buffered.unwrap_or(delivery.max_buffered);
    delivery.overflow = doc.overflow.unwrap_or(delivery.overflow);
    delivery.debounce_ms = doc.debounce_ms;
    delivery.dedupe_by = doc.dedupe_by.unwrap_or(DedupeBy::None);
    delivery.dedupe_window_ms = doc.dedupe_window_ms;
    if mode == DeliveryMode::Debounce && doc.debounce_ms.is_none() {
        let fault = Fault::error("delivery::no-quiet-period", "this edge debounces for no time");
        let help = "add `debounceMs`, the quiet period in milliseconds";
        faults.push(place.child("deliveryMode").mark(fault).help(help));
    }
    for (field, what) in without_effect(doc, mode, to, &delivery) {
        let fault = Fault::warning("delivery::no-effect", format!("`{field}` {what}"));
        faults.push(place.child(field).mark(fault).help("remove it, or say what is meant"));
    }
    delivery.transform = transform?;
    Some(delivery)
}

/// Fields that are there and change nothing, and why.
fn without_effect(
    doc: &EdgeDoc,
    mode: DeliveryMode,
    to: &Target,
    delivery: &Delivery,
) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut note = |there: bool, field, what: &str| {
        if there {
            found.push((field, what.to_owned()));
        }
    };
    if let Target::End | Target::Fail = to {
        let nobody = "says nothing here: nobody waits at the end";
        note(doc.delivery_mode.is_some(), "deliveryMode", nobody);
        note(doc.transform.is_some(), "transform", nobody);
        return found;
    }
    let debounces = mode == DeliveryMode::Debounce;
    note(doc.debounce_ms.is_some() && !debounces, "debounceMs", "needs `deliveryMode: debounce`");
    let replaces = matches!(mode, DeliveryMode::Latest | DeliveryMode::Debounce);
    let word =
        format!("says nothing where a newer payload replaces an older one (`{}`)", mode.word());
    note(doc.overflow.is_some() && replaces, "overflow", &word);
    let window = doc.dedupe_window_ms.is_some() && delivery.dedupe_by == DedupeBy::None;
    note(window, "dedupeWindowMs", "needs `dedupeBy`");
    found
}

fn transform(
    loaded: &Loaded,
    doc: &TransformDoc,
    place: &Place,
    faults: &mut Faults,
) -> Option<Transform> {
    // Every part is checked, so that all faults are reported at once.
    let guard: Option<Option<Guard>> = match &doc.guard {
        Some(guard) => {
            let place = place.child("where");
            let guard = paths::guard(loaded, guard, &place, faults);
            let seen = guard.filter(|one| of_payload(&one.path, &place.child("path"), faults));
            seen.map(Some)
        }
        None => Some(None),
    };
    let (mut map, mut sound) = (IndexMap::new(), true);
    for (target, source) in &doc.map {
        let place = place.child("map").child(target);
        let Some(part) = part(target) else {
            let message = format!("`{target}` is no part of a payload that can be replaced");
            let fault = Fault::error("delivery::bad-map", message);
            faults.push(place.mark(fault).help("replace `message`, `structured` or `status`"));
            continue;
        };
        match path(source, &place, loaded, faults) {
            Some(source) if of_payload(&source, &place, faults) => {
                map.insert(part, source);
            }
            Some(_) | None => sound = false,
        }
    }
    let guard = guard.filter(|_| sound)?;
    Some(Transform { guard, map })
}

fn part(word: &str) -> Option<PayloadPart> {
    match word {
        "message" => Some(PayloadPart::Message),
        "structured" => Some(PayloadPart::Structured),
        "status" => Some(PayloadPart::Status),
        _ => None,
    }
}

/// A transform sees the payload and nothing else.
fn of_payload(path: &Path, place: &Place, faults: &mut Faults) -> bool {
    if path.root == Root::Output {
        return true;
    }
    let message = format!("a transform sees only the payload, `$`, not `{path}`");
    let fault = Fault::error("delivery::not-the-payload", message);
    let help = "begin with `$`: $.message, $.structured.…, $.status.ok, $.artifacts";
    faults.push(place.mark(fault).help(help));
    false
}

/// The schedule of a socket, as it is written.
pub(super) fn cron(doc: &Socket) -> Option<Cron> {
    let timezone = doc.timezone.clone().unwrap_or_else(|| TIMEZONE_DEFAULT.to_owned());
    doc.cron.clone().map(|expression| Cron { expression, timezone })
}

/// Checks that a socket that runs by the clock says when, once and so that it can be read.
pub(super) fn check_schedule(loaded: &Loaded, doc: &Socket, place: &Place, faults: &mut Faults) {
    let scheduled = doc.trigger == Some(Trigger::Scheduled);
    // Values that could not be read were reported already.
    let unclear = ["intervalMs", "cron"].iter().any(|name| place.child(name).is_mended(loaded));
    if scheduled && doc.interval_ms.is_none() && doc.cron.is_none() && !unclear {
        let fault = Fault::error("trigger::no-interval", "this socket is scheduled at no interval");
        let help = "add `intervalMs`, the time between two ticks in milliseconds, or `cron`";
        faults.push(place.child("trigger").mark(fault).help(help));
    }
    if doc.interval_ms.is_some() && doc.cron.is_some() {
        let message = "this socket has both an interval and a schedule";
        let fault = Fault::error("trigger::interval-and-cron", message);
        faults.push(place.child("cron").mark(fault).help("keep one of `intervalMs` and `cron`"));
    }
    let fields = [
        ("intervalMs", doc.interval_ms.is_some() && !scheduled, "`trigger: scheduled`"),
        ("cron", doc.cron.is_some() && !scheduled, "`trigger: scheduled`"),
        ("runAtStart", doc.run_at_start.is_some() && !scheduled, "`trigger: scheduled`"),
        ("timezone", doc.timezone.is_some() && doc.cron.is_none(), "`cron`"),
    ];
    for (field, _, needs) in fields.into_iter().filter(|(_, vain, _)| *vain) {
        let fault = Fault::warning("trigger::no-effect", format!("`{field}` needs {needs}"));
        faults.push(place.child(field).mark(fault).help("add that, or remove it"));
    }
    if let Some(Err(error)) = cron(doc).map(|cron| cron.schedule()) {
        let (field, help) = match error {
            CronError::Zone(_) => ("timezone", "use a name such as UTC or Europe/Zurich"),
            CronError::Fields(_) | CronError::Field { .. } | CronError::Never => {
                ("cron", "five fields, such as \"30 6 * * mon-fri\" for 06:30 on weekdays")
            }
        };
        let fault =
            Fault::error("trigger::bad-cron", format!("this schedule cannot be kept: {error}"));
        faults.push(place.child(field).mark(fault).help(help));
    }
}

/// Reads what turns of a socket may do.
pub(super) fn policy(doc: &PolicyDoc, place: &Place, faults: &mut Faults) -> Policy {
    for (index, path) in doc.write.iter().flatten().enumerate() {
        let inside = !path.is_empty()
            && std::path::Path::new(path).components().all(|part| {
                use std::path::Component::{CurDir, Normal};
                matches!(part, CurDir | Normal(_))
            });
        if !inside {
            let place = place.child("policy").child("write").child(&index.to_string());
            let message = format!("`{path}` does not lie inside the project");
            let fault = Fault::error("policy::outside", message);
            faults.push(place.mark(fault).help("name a path inside the project, without `..`"));
        }
    }
    let mut labels = doc.labels.clone().unwrap_or_default();
    for (index, label) in labels.iter().enumerate().filter(|(_, label)| !is_label(label)) {
        let place = place.child("policy").child("labels").child(&index.to_string());
        let label = label.chars().take(80).collect::<String>();
        let fault = Fault::error("policy::label", format!("`{label}` cannot be a label"));
        faults.push(place.mark(fault).help(LABEL_RULE));
    }
    labels.sort();
    labels.dedup();
    let PolicyDoc { tools, write, network, steer, .. } = doc.clone();
    Policy { tools, write, network, steer, labels }
}
