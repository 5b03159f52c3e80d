//! The configuration: its files by layer, saving one, findings, and what is there to cast.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use materia_app::{
    cast::concurrent as concurrent_casts, cast::workspace, edit::config_writer, project,
    proof::bounds, text::grid,
};
use materia_compiler::{Layer, Loaded};
use materia_contract::api::{
    Catalog, CatalogItem, CheckBody, ConfigBody, Findings, LoadoutView, SaveBody, Saved,
};
use materia_contract::{GlobalMode, RefusalCode, WorkspaceKind};
use materia_engine::Journal;

use tokio::runtime::Handle;

use crate::http::problem::{Answered, Refused};
use crate::projects::Served;
use crate::request::{Request, json};
use crate::state::App;

fn served(app: &App, asked: &Request) -> Result<Arc<Served>, Refused> {
    app.rooms.only(asked.query("project"))
}

/// `GET /api/config`.
pub(crate) fn config(app: &Arc<App>, asked: &Request) -> Answered {
    let served = served(app, asked)?;
    let mut checked = served.project.check();
    checked.findings.extend(workspace::findings(&served.project, &checked.loaded));
    let items = config_writer::files(&checked.loaded);
    Ok(json(&ConfigBody { items, findings: checked.findings }))
}

/// `PUT /api/config/{layer}/{file}`.
pub(crate) fn save(app: &Arc<App>, asked: &Request) -> Answered {
    let served = served(app, asked)?;
    let body: SaveBody = asked.json()?;
    let (layer, name) = (asked.part("layer"), asked.part("file"));
    let matches = asked.headers.get(header::IF_MATCH).and_then(|value| value.to_str().ok());
    let Some(base) = matches.map(|text| text.trim_matches('"').to_owned()) else {
        let detail = "`If-Match` names the hash that the file had when it was read";
        return Err(Refused::new(StatusCode::PRECONDITION_REQUIRED, RefusalCode::Usage, detail));
    };
    let (loaded, _) = materia_compiler::load(&served.project.sources);
    let files = config_writer::files(&loaded);
    let there = files.iter().find(|file| file.layer == layer && file.file == name);
    let file = if there.is_some() {
        config_writer::named(&served.project, &loaded, name)?
    } else {
        // The project's own file may be yet to come.
        let own = config_writer::ConfigWriter::for_copy(&served.project, &loaded);
        if layer != "project" || own.shown() != name {
            let detail = "this is no file of the configuration; GET /api/config lists them";
            return Err(Refused::unknown(detail));
        }
        own
    };
    let now = there.map_or_else(|| hash(""), |there| there.hash.clone());
    if now != base {
        let theirs = there.cloned();
        let detail = "somebody has changed the file since it was read; nothing was saved";
        return Err(Refused::new(StatusCode::PRECONDITION_FAILED, RefusalCode::Resolution, detail)
            .with("yours", body.text)
            .with("base", base)
            .with("theirs", serde_json::to_value(theirs).unwrap_or_default()));
    }
    file.replace(&base, &body.text)?;
    Ok(json(&Saved { hash: hash(&body.text) }))
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// `POST /api/check`.
pub(crate) fn check(app: &Arc<App>, asked: &Request) -> Answered {
    let body: CheckBody = asked.json()?;
    let served = app.rooms.only(body.project.as_deref())?;
    let checked = served.project.check_given(&body.files);
    let mut findings = checked.findings;
    findings.extend(workspace::findings(&served.project, &checked.loaded));
    let plan = body.loadout.and_then(|name| {
        let checked = served.project.compile_given(&body.files, Some(&name));
        checked.made.filter(|_| !project::has_errors(&checked.findings))
    });
    let plan = plan.map(|compiled| compiled.plan);
    let graph = plan.as_ref().map(grid::data);
    Ok(json(&Findings { ok: !project::has_errors(&findings), findings, graph, plan }))
}

/// `GET /api/loadouts`.
pub(crate) fn loadouts(app: &Arc<App>, asked: &Request) -> Answered {
    let (loaded, _) = materia_compiler::load(&served(app, asked)?.project.sources);
    let active = materia_compiler::active_loadout(&loaded).map(str::to_owned);
    let items = loaded.config.loadouts.iter().map(|(name, doc)| CatalogItem {
        active: active.as_deref() == Some(name.as_str()),
        description: doc.description.clone(),
        value: serde_json::to_value(doc).unwrap_or_default(),
        ..item(name, loaded.loadout_layer(name))
    });
    Ok(json(&Catalog { items: items.collect() }))
}

/// `GET /api/materia`.
pub(crate) fn materia(app: &Arc<App>, asked: &Request) -> Answered {
    let (loaded, _): (Loaded, _) = materia_compiler::load(&served(app, asked)?.project.sources);
    let items = loaded.config.materia.iter().map(|(name, doc)| CatalogItem {
        kind: Some(doc.kind.unwrap_or_default()),
        generator: doc.generator.unwrap_or(false),
        label: doc.label.clone(),
        description: doc.description.clone(),
        group: doc.group.clone(),
        color: doc.color.clone(),
        parse: doc.parse,
        value: serde_json::to_value(doc).unwrap_or_default(),
        ..item(name, loaded.materia_layer(name))
    });
    Ok(json(&Catalog { items: items.collect() }))
}

fn item(name: &str, layer: Option<&Layer>) -> CatalogItem {
    CatalogItem {
        name: name.to_owned(),
        layer: layer.map_or("", |layer| config_writer::word(layer.kind)).to_owned(),
        file: layer.map(|layer| layer.shown.clone()).unwrap_or_default(),
        active: false,
        kind: None,
        generator: false,
        label: None,
        description: None,
        group: None,
        color: None,
        parse: None,
        value: serde_json::Value::Null,
    }
}

/// `GET /api/loadouts/{name}/bounds`.
pub(crate) fn bounds(app: &Arc<App>, asked: &Request) -> Answered {
    let name = asked.part("name");
    let served = served(app, asked)?;
    let checked = served.project.compile(Some(name));
    if !checked.loaded.config.loadouts.contains_key(name) {
        return Err(no_loadout());
    }
    let (_, compiled) = checked.sound()?;
    // Without a journal nothing is known about costs.
    let rooms = app.rooms.of(&served, &Handle::current()).unwrap_or_default();
    let journals =
        rooms.iter().map(|room| (room.root.as_path(), room.journal.as_ref() as &dyn Journal));
    Ok(json(&bounds::bounds_with(&served.project, journals, &compiled.plan, None)?))
}

fn no_loadout() -> Refused {
    Refused::unknown("there is no such loadout; GET /api/loadouts lists them")
}

/// `GET /api/loadouts/{name}`.
pub(crate) fn loadout(app: &Arc<App>, asked: &Request) -> Answered {
    let name = asked.part("name");
    let served = served(app, asked)?;
    let checked = served.project.compile(Some(name));
    if !checked.loaded.config.loadouts.contains_key(name) {
        return Err(no_loadout());
    }
    let told = checked.made.as_ref().map(|made| made.workspace);
    let workspace = told.unwrap_or(WorkspaceKind::Project);
    let plan = checked.made.map(|compiled| compiled.plan);
    let graph = plan.as_ref().map(grid::data);
    let may_write = plan
        .as_ref()
        .is_some_and(|plan| concurrent_casts::may_write(plan, GlobalMode::Implementation));
    // A journal that cannot be opened is no reason to hide the loadout.
    let rooms = app.rooms.of(&served, &Handle::current()).unwrap_or_default();
    let beside = rooms.iter().flat_map(|room| concurrent_casts::driven(&*room.journal)).collect();
    let (name, findings) = (name.to_owned(), checked.findings);
    Ok(json(&LoadoutView { name, graph, plan, findings, may_write, workspace, beside }))
}
