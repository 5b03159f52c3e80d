//! Parsing of an output: its verdict, its items, its changes, and its ignored fields (H1–H11).

use indexmap::IndexMap;
use materia_contract::{
    Condition, Event, EventBody, Node, Parse, Root, TurnOutput, VerdictFrom, number,
};
use serde_json::{Map, Value, json};

use crate::lookup::{Scope, assign};
use crate::owed::{Paid, Patch};
use crate::state::Verifier;
use crate::wiring::Wiring;
use crate::{Checked, hold};

/// A parsed output.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) verdict: Option<bool>,
    /// The items of a generator.
    pub(crate) items: Option<Vec<Value>>,
    pub(crate) merged: IndexMap<String, Value>,
    pub(crate) assigned: IndexMap<String, Value>,
    /// Paths of the fields without a meaning, grouped as in the events.
    pub(crate) ignored: Vec<Vec<String>>,
    /// The object itself.
    pub(crate) object: Option<Value>,
    /// How the streams of a program end, where its exit code is the verdict.
    pub(crate) context: Option<String>,
}

/// The most of a stream's end that a `context` has, in characters.
const END_CHARS_MAX: usize = 2_000;

impl Verifier {
    /// Reads an output whose object stands at that place.
    pub(crate) fn read(
        &self,
        chart: &Wiring,
        node: usize,
        report: &TurnOutput,
        span: Option<(usize, usize)>,
    ) -> Checked<Reading> {
        let (plan, text) = (chart.node(node), report.json_text());
        let mut reading = Reading::default();
        let mut slimmed = None;
        if plan.verdict == Some(VerdictFrom::ExitCode) {
            hold!(self, span.is_none(), "its exit code counts, and no object in its output");
            let satisfied = report.exit_code == Some(0);
            let context = by_exit_code(report);
            reading.verdict = Some(satisfied);
            reading.object = Some(json!({ "satisfied": satisfied, "context": context }));
            reading.context = Some(context);
        } else if plan.parse == Parse::Text {
            hold!(self, span.is_none(), "its output is text and has no object");
        } else {
            let part = span.and_then(|(start, end)| text.get(start..end));
            let Some(part) = part else {
                return Err(self.objection("no object stands in the output where it says"));
            };
            if let Some(wide) = number::too_wide(part) {
                return Err(self.objection(format!("{wide}, which breaks its contract")));
            }
            let Ok(object) = serde_json::from_str::<Map<String, Value>>(part) else {
                return Err(self.objection("what stands in the output there is no JSON object"));
            };
            if part.len() != text.trim().len() {
                // D26: a whole text that is an object is the answer; a utility has no other.
                let whole = serde_json::from_str::<Map<String, Value>>(text.trim()).is_ok();
                hold!(self, !whole && !chart.is_utility(node), "the whole output is the object");
            }
            let slim = checked(chart, node, &object, &mut reading);
            slimmed = slim.map_err(|fault| self.objection(fault))?.map(Value::Object);
            reading.object = Some(Value::Object(object));
        }
        let own = reading.object.take();
        let json = own.as_ref();
        let output = slimmed.as_ref().or(json);
        let said = report.output.as_str();
        let assigned = self.assigns(plan, node, said, (output, json), &mut reading);
        reading.object = own;
        assigned.map_err(|fault| self.objection(fault))?;
        Ok(reading)
    }

    /// A whole text stands beside an output that lacks its middle, where JSON is read from it, and nowhere else (D69).
    pub(crate) fn whole_belongs(
        &self,
        chart: &Wiring,
        node: usize,
        report: &TurnOutput,
    ) -> Checked {
        let plan = chart.node(node);
        let read = plan.parse == Parse::Json && plan.verdict.is_none() && chart.is_utility(node);
        let belongs = report.whole.is_none() || (read && report.stdout_dropped > 0);
        hold!(self, self.redacted || belongs, "a whole text stands where none belongs");
        Ok(())
    }

    /// Whether the whole output is an object that keeps its contract.
    pub(crate) fn keeps_contract(&self, chart: &Wiring, node: usize, report: &TurnOutput) -> bool {
        let text = report.json_text();
        let plan = chart.node(node);
        if plan.verdict.is_some() {
            return self.read(chart, node, report, None).is_ok();
        }
        if plan.parse == Parse::Text {
            return false;
        }
        let trimmed = text.trim();
        let start = text.len() - text.trim_start().len();
        self.read(chart, node, report, Some((start, start + trimmed.len()))).is_ok()
    }

    /// Adds the values that `assign` copies, in order; a later source sees the values that an earlier one has set.
    fn assigns(
        &self,
        plan: &Node,
        node: usize,
        text: &str,
        (output, json): (Option<&Value>, Option<&Value>),
        reading: &mut Reading,
    ) -> Result<(), String> {
        if plan.assign.is_empty() {
            return Ok(());
        }
        let merged = reading.merged.iter().map(|(name, value)| (name.clone(), value.clone()));
        let mut pending: Map<String, Value> = merged.collect();
        let item = self.item(node).map(|(_, value)| value);
        for (target, source) in &plan.assign {
            let scope = Scope {
                output,
                pending: Some(&pending),
                item,
                last_output: Some(text),
                last_json: json.or(self.last.json.as_deref()),
                ..self.scope()
            };
            let Some(value) = scope.get(source) else {
                if source.root == Root::Output {
                    return Err(format!("`{source}`, which is assigned, is not in its output"));
                }
                continue;
            };
            let value = value.into_owned();
            let name = target.split('.').next().unwrap_or(target);
            if let (None, Some(old)) = (pending.get(name), self.variables.get(name)) {
                let old = old.clone();
                pending.insert(name.to_owned(), old);
            }
            assign(&mut pending, target, value.clone());
            reading.assigned.insert(target.clone(), value);
        }
        Ok(())
    }

    /// The fields that mean nothing are named.
    pub(crate) fn ignored(
        &self,
        chart: &Wiring,
        node: usize,
        turn: u64,
        fields: &[String],
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let what = "a note of fields that mean nothing";
        let Some(event) = event else { return Err(self.due(what, None)) };
        let EventBody::OutputFieldsIgnored(data) = &event.body else {
            return Err(self.due(what, Some(event)));
        };
        let here = self.here(chart, event)? == node && data.turn == turn;
        hold!(
            self,
            here && (self.redacted || data.fields == fields),
            "the output has other fields that mean nothing"
        );
        Ok(Paid::Yes)
    }

    /// The variables change as the output says.
    pub(crate) fn patched(
        &mut self,
        chart: &Wiring,
        patch: Patch,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let what = "the change of variables that the output asks for";
        let Some(event) = event else { return Err(self.due(what, None)) };
        let EventBody::StatePatched(data) = &event.body else {
            return Err(self.due(what, Some(event)));
        };
        let Patch { node, turn, merged, assigned } = patch;
        let here = self.here(chart, event)? == node && data.turn == turn;
        hold!(self, here, "it changes variables on account of another turn");
        // Without texts, only the names can be compared.
        let same = |one: &IndexMap<String, Value>, other: &IndexMap<String, Value>| {
            if self.redacted { one.keys().eq(other.keys()) } else { one == other }
        };
        hold!(self, same(&data.merged, &merged), "the output's `state` sets other variables");
        hold!(self, same(&data.assigned, &assigned), "`assign` copies other values");
        self.variables.extend(data.merged.clone());
        for (target, value) in &data.assigned {
            assign(&mut self.variables, target, value.clone());
        }
        Ok(Paid::Yes)
    }
}

/// Checks an object against the contract. Returns it with its items reduced to title and context, if that differs
/// and the result is used.
fn checked(
    chart: &Wiring,
    node: usize,
    object: &Map<String, Value>,
    reading: &mut Reading,
) -> Result<Option<Map<String, Value>>, String> {
    let (plan, utility) = (chart.node(node), chart.is_utility(node));
    reading.verdict = match object.get("satisfied") {
        None if needs_verdict(plan, utility) => {
            return Err("its output lacks `satisfied`, which routing needs".to_owned());
        }
        None => None,
        Some(Value::Bool(verdict)) => Some(*verdict),
        Some(_) => return Err("`satisfied` in its output is no boolean".to_owned()),
    };
    if object.get("context").is_some_and(|context| !context.is_string()) {
        return Err("`context` in its output is no text".to_owned());
    }
    let mut slim = None;
    match object.get("workItems") {
        Some(items) => {
            let (items, extras) = slimmed(items)?;
            if !extras.is_empty() {
                reading.ignored.push(extras);
            }
            reading.items = plan.generator.then(|| items.clone());
            if !plan.assign.is_empty() {
                let mut whole = object.clone();
                whole.insert("workItems".to_owned(), Value::Array(items));
                slim = Some(whole);
            }
        }
        None if plan.generator => return Err("its output lacks `workItems`".to_owned()),
        None => {}
    }
    if utility {
        merged(object, reading)?;
    } else {
        let read = |field: &String| {
            let mut paths = plan.assign.values().filter(|path| path.root == Root::Output);
            paths.any(|path| path.steps.first() == Some(field))
        };
        let known = ["workItems", "satisfied", "context"];
        let extra = object.keys().filter(|field| !known.contains(&field.as_str()) && !read(field));
        let extra: Vec<String> = extra.map(|field| format!("$.{field}")).collect();
        if !extra.is_empty() {
            reading.ignored.push(extra);
        }
    }
    Ok(slim)
}

/// Whether routing needs a verdict of a node (H11).
fn needs_verdict(plan: &Node, utility: bool) -> bool {
    let guarded = |when: Condition| when != Condition::Always;
    let edges = plan.edges.iter().any(|edge| guarded(edge.when));
    let otherwise =
        plan.edges.iter().any(|edge| edge.when == Condition::Always && edge.guard.is_none());
    plan.advance.is_some_and(guarded) || (edges && !(utility && otherwise))
}

/// Items with title and context alone, and the paths of what else they had (H3).
fn slimmed(items: &Value) -> Result<(Vec<Value>, Vec<String>), String> {
    let Value::Array(items) = items else {
        return Err("`workItems` in its output is no list".to_owned());
    };
    let (mut slim, mut extras) = (Vec::with_capacity(items.len()), Vec::new());
    for (place, item) in items.iter().enumerate() {
        let text = |name: &str| item.get(name).filter(|value| value.is_string()).cloned();
        let (Some(title), Some(context), Some(fields)) =
            (text("title"), text("context"), item.as_object())
        else {
            return Err(format!("`$.workItems.{place}` is no title and context"));
        };
        let others = fields.keys().filter(|name| !["title", "context"].contains(&name.as_str()));
        extras.extend(others.map(|name| format!("$.workItems.{place}.{name}")));
        let mut kept = Map::new();
        kept.insert("title".to_owned(), title);
        kept.insert("context".to_owned(), context);
        slim.push(Value::Object(kept));
    }
    Ok((slim, extras))
}

/// How standard output ends, and then standard error (D48).
fn by_exit_code(report: &TurnOutput) -> String {
    let streams = [report.output.trim(), report.stderr.trim()];
    let ends = streams.into_iter().filter(|stream| !stream.is_empty()).map(|stream| {
        let from = stream.char_indices().rev().nth(END_CHARS_MAX - 1).map_or(0, |(at, _)| at);
        &stream[from..]
    });
    ends.collect::<Vec<_>>().join("\n")
}

/// Variables that an object sets, and groups of fields that it names in vain.
pub(crate) type Left = (IndexMap<String, Value>, Vec<Vec<String>>);

/// The variables that the `state` of a failed utility sets, where its whole output is an object (D49).
pub(crate) fn state_in(output: &str) -> Option<Left> {
    let text = output.trim();
    let object: Map<String, Value> = serde_json::from_str(text).ok()?;
    if number::too_wide(text).is_some() {
        return None;
    }
    let mut reading = Reading::default();
    merged(&object, &mut reading).ok()?;
    Some((reading.merged, reading.ignored))
}

/// A utility's `state` sets whole variables; what steers the graph is not read from there (H7).
fn merged(object: &Map<String, Value>, reading: &mut Reading) -> Result<(), String> {
    let Some(state) = object.get("state") else { return Ok(()) };
    let Value::Object(state) = state else {
        return Err("`state` in its output is no object".to_owned());
    };
    let mut control = Vec::new();
    for (name, value) in state {
        if ["workItems", "satisfied"].contains(&name.as_str()) {
            control.push(format!("$.state.{name}"));
        } else {
            reading.merged.insert(name.clone(), value.clone());
        }
    }
    if !control.is_empty() {
        reading.ignored.push(control);
    }
    Ok(())
}
