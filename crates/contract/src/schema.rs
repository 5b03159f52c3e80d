//! How the types of this crate are written as JSON: `omit_none`; and `JsonSchema`, from `schemars` with the feature
//! `schemas`, otherwise a derive that does nothing.

pub(crate) use materia_contract_derive::omit_none;

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
    pub use materia_contract_derive::JsonSchema;

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
