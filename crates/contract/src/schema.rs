//! `JsonSchema` for the types of this crate: from `schemars` with the feature `schemas`, otherwise a derive that does
//! nothing.

#[cfg(feature = "schemas")]
pub use schemars::{JsonSchema, Schema, SchemaGenerator};

#[cfg(feature = "schemas")]
mod on {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use crate::Amount;

    impl JsonSchema for Amount {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            "Amount".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "number" })
        }
    }
}

#[cfg(not(feature = "schemas"))]
pub use off::{JsonSchema, Schema, SchemaGenerator};

#[cfg(not(feature = "schemas"))]
mod off {
    pub use materia_no_schema::JsonSchema;

    /// Every type has no schema.
    pub trait JsonSchema {}
    impl<T> JsonSchema for T {}

    /// Stands in for the type of `schemars`.
    #[derive(Debug)]
    pub struct Schema(());
    /// Stands in for the type of `schemars`. Nothing makes one.
    #[derive(Debug)]
    pub enum SchemaGenerator {}

    impl SchemaGenerator {
        /// Never called.
        pub fn subschema_for<T: JsonSchema>(&mut self) -> Schema {
            match *self {}
        }
    }
}
