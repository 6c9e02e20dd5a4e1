//! One field of a settings struct: its kind, its default and its limits, read from type and attributes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, ExprArray, ExprLit, ExprUnary, Ident, Lit, Meta, Type, UnOp};

/// Type of a setting, by the Rust type of its field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flag,
    Number,
    Count,
    Text,
    Zone,
    Numbers,
    Texts,
}

/// A literal in an attribute.
#[derive(Clone)]
pub(crate) enum Value {
    Flag(bool),
    Number(f64),
    Text(String),
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) kind: Kind,
    pub(crate) description: String,
    pub(crate) default: Option<Value>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    pub(crate) one_of: Vec<String>,
}

impl Field {
    pub(crate) fn parse(field: &syn::Field) -> syn::Result<Self> {
        let unnamed = || syn::Error::new(field.span(), "a setting has a name");
        let mut parsed = Self {
            ident: field.ident.clone().ok_or_else(unnamed)?,
            kind: kind_of(&field.ty)?,
            description: description(field),
            default: None,
            min: None,
            max: None,
            one_of: Vec::new(),
        };
        for attribute in &field.attrs {
            if attribute.path().is_ident("setting") {
                parsed.read(attribute)?;
            }
        }
        Ok(parsed)
    }

    fn read(&mut self, attribute: &syn::Attribute) -> syn::Result<()> {
        attribute.parse_nested_meta(|meta| {
            let value: Expr = meta.value()?.parse()?;
            if meta.path.is_ident("default") {
                self.default = Some(self.kind.value(&value)?);
            } else if meta.path.is_ident("min") {
                self.min = Some(number(&value)?);
            } else if meta.path.is_ident("max") {
                self.max = Some(number(&value)?);
            } else if meta.path.is_ident("one_of") {
                self.one_of = texts(&value)?;
            } else {
                return Err(meta.error("expected `default`, `min`, `max` or `one_of`"));
            }
            Ok(())
        })
    }

    /// The name of the setting, as in the Policy object.
    pub(crate) fn key(&self) -> String {
        let name = self.ident.to_string();
        name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
    }

    /// The rule that the reader checks this setting against, as an expression.
    pub(crate) fn rule(&self) -> TokenStream {
        let default = option(self.default.as_ref().map(Value::expression));
        let min = option(self.min.map(|min| quote!(#min)));
        let max = option(self.max.map(|max| quote!(#max)));
        let one_of = &self.one_of;
        quote! {
            &::plimsoll_sdk::settings::Rule { default: #default, min: #min, max: #max, one_of: &[#(#one_of),*] }
        }
    }
}

impl Kind {
    fn value(self, expression: &Expr) -> syn::Result<Value> {
        Ok(match self {
            Self::Flag => Value::Flag(flag(expression)?),
            Self::Number => Value::Number(number(expression)?),
            Self::Count => Value::Number(count(expression)?),
            Self::Text | Self::Zone => Value::Text(text(expression)?),
            Self::Numbers => Value::Numbers(numbers(expression)?),
            Self::Texts => Value::Texts(texts(expression)?),
        })
    }
}

impl Value {
    fn expression(&self) -> TokenStream {
        let setting = quote!(::plimsoll_sdk::settings::Setting);
        match self {
            Self::Flag(value) => quote!(#setting::Flag(#value)),
            Self::Number(value) => quote!(#setting::Num(#value)),
            Self::Text(value) => quote!(#setting::Text(::std::string::String::from(#value))),
            Self::Numbers(values) => quote!(#setting::Nums(::std::vec![#(#values),*])),
            Self::Texts(values) => {
                quote!(#setting::Texts(::std::vec![#(::std::string::String::from(#values)),*]))
            }
        }
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}

fn kind_of(ty: &Type) -> syn::Result<Kind> {
    let written = quote!(#ty).to_string().replace(' ', "");
    Ok(match written.as_str() {
        "bool" => Kind::Flag,
        "f64" => Kind::Number,
        "u32" => Kind::Count,
        "String" => Kind::Text,
        "TimeZone" => Kind::Zone,
        "Vec<f64>" => Kind::Numbers,
        "Vec<String>" => Kind::Texts,
        _ => {
            let message = "a setting is bool, f64, u32, String, TimeZone, Vec<f64> or Vec<String>";
            return Err(syn::Error::new_spanned(ty, message));
        }
    })
}

fn description(field: &syn::Field) -> String {
    let mut lines = Vec::new();
    for attribute in field
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
    {
        if let Meta::NameValue(pair) = &attribute.meta
            && let Ok(line) = text(&pair.value)
        {
            lines.push(line.trim().to_owned());
        }
    }
    lines.join(" ").trim().to_owned()
}

fn expected(expression: &Expr, what: &str) -> syn::Error {
    syn::Error::new_spanned(expression, format!("expected {what}"))
}

fn flag(expression: &Expr) -> syn::Result<bool> {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Bool(value),
            ..
        }) => Ok(value.value),
        _ => Err(expected(expression, "true or false")),
    }
}

fn number(expression: &Expr) -> syn::Result<f64> {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Float(value),
            ..
        }) => value.base10_parse(),
        Expr::Lit(ExprLit {
            lit: Lit::Int(value),
            ..
        }) => value.base10_parse(),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => Ok(-number(expr)?),
        _ => Err(expected(expression, "a number")),
    }
}

fn count(expression: &Expr) -> syn::Result<f64> {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Int(value),
            ..
        }) => Ok(f64::from(value.base10_parse::<u32>()?)),
        _ => Err(expected(expression, "a whole number, 0 or more")),
    }
}

fn text(expression: &Expr) -> syn::Result<String> {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Str(value),
            ..
        }) => Ok(value.value()),
        _ => Err(expected(expression, "a text in quotes")),
    }
}

fn numbers(expression: &Expr) -> syn::Result<Vec<f64>> {
    elements(expression)?.into_iter().map(number).collect()
}

fn texts(expression: &Expr) -> syn::Result<Vec<String>> {
    elements(expression)?.into_iter().map(text).collect()
}

fn elements(expression: &Expr) -> syn::Result<Vec<&Expr>> {
    match expression {
        Expr::Array(ExprArray { elems, .. }) => Ok(elems.iter().collect()),
        _ => Err(expected(expression, "a list in brackets")),
    }
}
