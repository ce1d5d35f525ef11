//! The ACE page manager over a trace.

mod config;
mod list;
mod outcome;
mod run;
mod survey;

pub use config::PageConfig;
pub use list::{ActionRow, PagePolicyRow, action_table, page_policy_rows};
pub use outcome::{PageRecord, PageReport};
pub use run::manage_pages;
