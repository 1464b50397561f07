//! Answers on a terminal: one site a line (`path:line:col  caller  source`), with colours, links to
//! files, and a pager for what is longer than the screen.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use clap::{Arg, ArgAction, ArgMatches};
use terminal_size::{Height, Width, terminal_size_of};

use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::{Config, process};
use cograph_server::{self as server, Row, Site, one_line};

/// Pager where no variable names one: it ends by itself if all fits, and keeps colours.
const PAGER: &str = "less -FRX";
const PATH: Style = AnsiColor::Magenta.on_default();
const LINE: Style = AnsiColor::Green.on_default();
const WHAT: Style = AnsiColor::Cyan.on_default();
const TITLE: Style = Style::new().bold();
const NOTE: Style = Style::new().dimmed();

/// Options of every command with an answer.
pub(crate) fn arguments() -> [Arg; 2] {
    [
        Arg::new("color")
            .long("color")
            .value_name("WHEN")
            .value_parser(["auto", "always", "never"])
            .default_value("auto")
            .help("Colour, and one site a line: on a terminal, always, or no colour [NO_COLOR]"),
        Arg::new("no-pager")
            .long("no-pager")
            .action(ArgAction::SetTrue)
            .help("Print without a pager, as an empty COGRAPH_PAGER does"),
    ]
}

/// How answers are printed.
pub(crate) struct Terminal {
    is_terminal: bool,
    has_color: bool,
    /// Root of the files that links lead to; none without links.
    links: Option<PathBuf>,
    /// Command line of the pager; none without one.
    pager: Option<String>,
}

impl Terminal {
    /// Reads the options and the environment, and checks what standard output is.
    #[expect(clippy::disallowed_methods, reason = "it only reads the kind of standard output")]
    pub(crate) fn new(config: &Config, matches: &ArgMatches, root: &Path) -> Self {
        let out = io::stdout();
        let is_terminal = out.is_terminal();
        let wanted = matches.get_one::<String>("color").map_or("auto", String::as_str);
        // `TERM=dumb`: it has no colours, also where `CI` is set, and cannot scroll.
        let is_dumb = !anstyle_query::term_supports_color();
        let has_color = match wanted {
            "always" => true,
            "never" => false,
            _ => {
                anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never
                    && is_terminal
                    && (!is_dumb || anstyle_query::clicolor_force())
            }
        };
        let has_links = is_terminal && !is_dumb && supports_hyperlinks::supports_hyperlinks();
        let has_pager = is_terminal && !is_dumb && !matches.get_flag("no-pager");
        let pager = config.pager.clone().unwrap_or_else(|| PAGER.to_owned());
        Self {
            is_terminal: is_terminal || wanted == "always",
            has_color,
            links: has_links.then(|| root.to_owned()),
            pager: Some(pager).filter(|pager| has_pager && !pager.trim().is_empty()),
        }
    }

    /// True if an answer is printed for a person: one site a line.
    pub(crate) fn has_rows(&self) -> bool {
        self.is_terminal
    }

    /// Prints rows.
    pub(crate) fn rows(&self, rows: &[Row]) -> Result<(), Stop> {
        let mut text = String::new();
        for row in rows {
            text.push_str(&match row {
                Row::Title(title) => self.painted(TITLE, title),
                Row::Note(note) => self.painted(NOTE, note),
                Row::Site(site) => self.site(site),
            });
            text.push('\n');
        }
        self.text(&text)
    }

    /// Prints a text, through the pager if it is longer than the screen.
    pub(crate) fn text(&self, text: &str) -> Result<(), Stop> {
        if let Some(pager) = self.pager.as_deref()
            && is_longer_than_screen(text)
        {
            match process::show_through(pager, text.as_bytes()) {
                Ok(()) => return Ok(()),
                Err(error) => tracing::warn!(%error, pager, "the pager does not start"),
            }
        }
        to_stdout(|out| out.write_all(text.as_bytes()))
    }

    fn site(&self, site: &Site) -> String {
        let path = self.painted(PATH, &one_line(&site.path));
        let mut place = format!("{path}:{}", self.painted(LINE, &site.line.to_string()));
        if let Some(column) = site.column {
            place.push_str(&format!(":{column}"));
        }
        let mut line = self.linked(site, place);
        if !site.what.is_empty() {
            line.push_str(&format!("  {}", self.painted(WHAT, &site.what)));
        }
        if !site.source.is_empty() {
            line.push_str(&format!("  {}", site.source));
        }
        line
    }

    fn linked(&self, site: &Site, place: String) -> String {
        match &self.links {
            Some(root) => {
                let address = server::file_address(&root.join(&site.path), site.line);
                format!("\u{1b}]8;;{address}\u{1b}\\{place}\u{1b}]8;;\u{1b}\\")
            }
            None => place,
        }
    }

    fn painted(&self, style: Style, text: &str) -> String {
        if self.has_color && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// True if the lines of a text, as they are wrapped, take more than the screen.
#[expect(clippy::disallowed_methods, reason = "it only asks for the size of the terminal")]
fn is_longer_than_screen(text: &str) -> bool {
    let Some((Width(columns), Height(rows))) = terminal_size_of(io::stdout()) else { return false };
    let (rows, columns) = (usize::from(rows), usize::from(columns).max(1));
    let lines = anstream::adapter::strip_str(text).to_string();
    let taken = |line: &str| line.chars().count().div_ceil(columns).max(1);
    rows > 0 && lines.lines().map(taken).sum::<usize>() >= rows
}
