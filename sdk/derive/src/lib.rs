//! `derive(Settings)`: from one struct to its reader, its defaults, its checks and its JSON Schema.
//!
//! What is not a setting a Policy object can carry is refused here, at compile time, at the field that asks for it.

mod field;
mod schema;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, parse_macro_input};

use crate::field::Field;

/// Makes a struct the settings of a policy.
///
/// Every field is a setting of the same name: `bool`, `f64`, `u32`, `String`, `TimeZone`, `Vec<f64>` or `Vec<String>`. Its doc
/// comment is its description. `#[setting(...)]` takes `default = literal` (without one the setting must be given),
/// `min = number`, `max = number`, and `one_of = ["a", "b"]` for texts.
#[proc_macro_derive(Settings, attributes(setting))]
pub fn derive_settings(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

fn expand(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    let named = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) => &named.named,
            _ => return Err(not_a_struct(input)),
        },
        _ => return Err(not_a_struct(input)),
    };
    let fields = named
        .iter()
        .map(Field::parse)
        .collect::<syn::Result<Vec<_>>>()?;
    let name = &input.ident;
    let schema = schema::render(&fields);
    let keys: Vec<String> = fields.iter().map(Field::key).collect();
    let idents: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    let rules = fields.iter().map(Field::rule);
    let defaults = default_impl(name, &fields);
    Ok(quote! {
        impl ::plimsoll_sdk::settings::Settings for #name {
            const SCHEMA: &'static str = #schema;

            fn from_values(
                values: &[(::std::string::String, ::plimsoll_sdk::settings::Setting)],
            ) -> ::core::result::Result<Self, ::std::vec::Vec<::plimsoll_sdk::settings::Problem>> {
                let mut reader = ::plimsoll_sdk::settings::Reader::new(values);
                #(let #idents = reader.read(#keys, #rules);)*
                let problems = reader.finish(&[#(#keys),*]);
                match (#(#idents,)*) {
                    (#(::core::option::Option::Some(#idents),)*) if problems.is_empty() => {
                        ::core::result::Result::Ok(Self { #(#idents),* })
                    }
                    _ => ::core::result::Result::Err(problems),
                }
            }
        }
        #defaults
    })
}

fn not_a_struct(input: &DeriveInput) -> syn::Error {
    syn::Error::new_spanned(&input.ident, "settings are a struct with named fields")
}

/// `Default` where every setting has one: what a test starts from.
fn default_impl(name: &syn::Ident, fields: &[Field]) -> proc_macro2::TokenStream {
    if fields.iter().any(|field| field.default.is_none()) {
        return quote!();
    }
    quote! {
        impl ::core::default::Default for #name {
            fn default() -> Self {
                <Self as ::plimsoll_sdk::settings::Settings>::from_values(&[])
                    .unwrap_or_else(|problems| ::plimsoll_sdk::settings::defaults_break_their_rules(&problems))
            }
        }
    }
}
