//! Description of one endpoint of the server: method, path, query, body, answer, access.

use crate::schema::{JsonSchema, Schema, SchemaGenerator};

use super::name::Name;

/// How something is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Looks at something.
    Get,
    /// Does something.
    Post,
    /// Puts something in the place of something.
    Put,
    /// Takes something away.
    Delete,
}

impl Method {
    /// As it is written in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }

    /// Whether it changes something.
    pub fn changes(self) -> bool {
        self != Self::Get
    }
}

/// Required authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Every client that passes the rest of the guard.
    Open,
    /// Clients with the token, or with a session and its key.
    Known,
    /// A session alone: a person has signed in.
    Person,
}

/// A parameter of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// One sentence for the API reference.
    pub says: &'static str,
    /// Whether it is a number.
    pub number: bool,
}

impl Param {
    /// A text.
    pub const fn text(name: &'static str, says: &'static str) -> Self {
        Self { name, says, number: false }
    }

    /// A number from 0.
    pub const fn number(name: &'static str, says: &'static str) -> Self {
        Self { name, says, number: true }
    }
}

/// The shape of a body.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// The shape of a type.
pub(super) fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Body of a successful answer.
#[derive(Debug, Clone, Copy)]
pub enum Answer {
    /// JSON of this shape.
    Json(Shape),
    /// The bytes of a file.
    Bytes,
    /// Text for a program that reads it, of this type.
    Text(&'static str),
    /// Server-sent events, by name; the data of each is JSON of this shape.
    Events(&'static [(&'static str, Shape)]),
}

/// One endpoint of the API.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// Which one.
    pub name: Name,
    /// How it is asked.
    pub method: Method,
    /// Where: parts in braces stand for any text.
    pub path: &'static str,
    /// One sentence for the API reference.
    pub says: &'static str,
    /// The allowed query parameters.
    pub query: &'static [Param],
    /// The request body; none where nothing is sent.
    pub body: Option<Shape>,
    /// The body of a successful answer.
    pub answer: Answer,
    /// The status of that.
    pub status: u16,
    /// The required authentication.
    pub access: Access,
}

/// The parameter that nearly every endpoint takes.
pub(super) const PROJECT: Param = Param::text(
    "project",
    "the folder of the project, or its id; needed where the server serves several that have the cast",
);

const fn asked(method: Method, name: Name, path: &'static str) -> Endpoint {
    let (query, access) = (&[PROJECT], Access::Known);
    Endpoint {
        name,
        method,
        path,
        says: "",
        query,
        body: None,
        answer: Answer::Bytes,
        status: 200,
        access,
    }
}

pub(super) const fn get(name: Name, path: &'static str) -> Endpoint {
    asked(Method::Get, name, path)
}

pub(super) const fn post(name: Name, path: &'static str) -> Endpoint {
    asked(Method::Post, name, path)
}

pub(super) const fn put(name: Name, path: &'static str) -> Endpoint {
    asked(Method::Put, name, path)
}

pub(super) const fn delete(name: Name, path: &'static str) -> Endpoint {
    asked(Method::Delete, name, path)
}

/// The row of an endpoint, one part after the other. It begins as one about a project, that gives bytes to every known
/// client and takes nothing.
impl Endpoint {
    pub(super) const fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }

    pub(super) const fn query(self, query: &'static [Param]) -> Self {
        Self { query, ..self }
    }

    /// Takes a body of this type.
    pub(super) const fn takes<T: JsonSchema>(self) -> Self {
        Self { body: Some(of::<T>), ..self }
    }

    /// Answers with JSON of this type.
    pub(super) const fn gives<T: JsonSchema>(self) -> Self {
        self.answers(Answer::Json(of::<T>))
    }

    pub(super) const fn answers(self, answer: Answer) -> Self {
        Self { answer, ..self }
    }

    pub(super) const fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(super) const fn access(self, access: Access) -> Self {
        Self { access, ..self }
    }
}
