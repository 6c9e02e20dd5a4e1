//! The page as text and in a browser.

mod browser;
mod cards;
mod page;
