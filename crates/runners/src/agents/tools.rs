//! Permissions of a turn, independent of any agent.

use materia_contract::{GlobalMode, ToolSet, ToolsDoc, tool_writes};

use super::Ask;

/// A tool, by the name authors write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// Reads files.
    Read,
    /// Searches in files.
    Grep,
    /// Finds files by name.
    Find,
    /// Lists folders.
    List,
    /// Runs commands.
    Shell,
    /// Changes files.
    Edit,
    /// Writes whole files.
    Write,
    /// Reads the web.
    Web,
    /// One that only the agent knows, in the agent's own words.
    Other(String),
}

impl Tool {
    /// The tool of that name.
    pub fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "read" => Self::Read,
            "grep" | "search" => Self::Grep,
            "find" | "glob" => Self::Find,
            "ls" | "list" => Self::List,
            "bash" | "shell" => Self::Shell,
            "edit" => Self::Edit,
            "write" => Self::Write,
            "web" | "fetch" => Self::Web,
            _ => Self::Other(name.to_owned()),
        }
    }
}

/// How far a turn may write, beside the state of its own program and its temporary folder.
///
/// The sandbox around the process is configured from this. An agent with its own sandbox needs none of ours outside
/// Planning mode, and cannot create its own inside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Nowhere.
    Nothing,
    /// Below the doc root.
    Documents,
    /// In the whole project, by the policy of the socket.
    Project,
}

/// Permissions of a turn: the tools of its socket under the mode of the cast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// No tool at all.
    Nothing,
    /// Look, not touch.
    ReadOnly,
    /// Look, and write documents: what is left of `coding` in Planning mode.
    Documents,
    /// Change files and run commands.
    Coding,
    /// These tools and no other.
    Only(Vec<Tool>),
}

impl Grant {
    /// Permissions of this turn.
    ///
    /// | tools      | Implementation | Planning                                           |
    /// |------------|----------------|----------------------------------------------------|
    /// | `none`     | nothing        | nothing                                            |
    /// | `readOnly` | read only      | read only                                          |
    /// | `coding`   | coding         | documents                                          |
    /// | a list     | the list       | the list; what writes only inside our own sandbox  |
    /// | not said   | coding         | documents                                          |
    pub fn of(ask: &Ask) -> Self {
        let planning = match ask.mode {
            GlobalMode::Planning => true,
            GlobalMode::Implementation => false,
        };
        match &ask.tools {
            Some(ToolsDoc::Set(ToolSet::None)) => Self::Nothing,
            Some(ToolsDoc::Set(ToolSet::ReadOnly)) => Self::ReadOnly,
            Some(ToolsDoc::Set(ToolSet::Coding)) | None if planning => Self::Documents,
            Some(ToolsDoc::Set(ToolSet::Coding)) | None => Self::Coding,
            Some(ToolsDoc::List(names)) => {
                let mut tools: Vec<Tool> = Vec::new();
                for name in names {
                    let tool = Tool::named(name);
                    let refused = planning && !ask.confined && tool_writes(name);
                    if !refused && !tools.contains(&tool) {
                        tools.push(tool);
                    }
                }
                if tools.is_empty() { Self::Nothing } else { Self::Only(tools) }
            }
        }
    }

    /// How far a turn may write.
    pub fn reach(ask: &Ask) -> Reach {
        let most = match ask.mode {
            GlobalMode::Planning => Reach::Documents,
            GlobalMode::Implementation => Reach::Project,
        };
        if ask.tools.as_ref().is_none_or(ToolsDoc::may_write) { most } else { Reach::Nothing }
    }

    /// Whether the agent is kept to less than it could do, so that nothing it finds in the project
    /// (hooks, servers, plug-ins) may give it more.
    pub fn restricts(&self) -> bool {
        match self {
            Self::Nothing | Self::ReadOnly | Self::Documents | Self::Only(_) => true,
            Self::Coding => false,
        }
    }
}
