//! The command line.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

/// Who calls an API, and at which version, in all repositories of an organisation: questions to the
/// tables that `cograph export parquet` writes.
#[derive(Parser, Debug)]
#[command(name = "cograph-org", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cograph export parquet /data/graph --name team/shop   in each repository, with the main program
  cograph-org compact --data /data/graph                makes questions fast
  cograph-org callers flask.Flask.route --data /data/graph
  cograph-org mcp --data s3://bucket/graph              one endpoint for all agents";

/// Command.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Who calls a function or method: by repository, with place, caller and version
    #[command(after_help = "\
Examples:
  cograph-org callers route --package flask --data /data/graph   by its name
  cograph-org callers http.Client.Get --data s3://bucket/graph   by a longer name
  cograph-org callers 'cograph pip flask 3.0.1 Flask#route.'     by its symbol, at one version")]
    Callers {
        /// Name, with some of what it is in where that is known; or its SCIP symbol
        name: String,
        /// Only callees of this package
        #[arg(long)]
        package: Option<String>,
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        rows: Rows,
    },
    /// Which versions of a package are in use, by how many repositories and which
    #[command(after_help = "\
Examples:
  cograph-org versions flask --data /data/graph
  cograph-org versions github.com/gin-gonic/gin --limit 1000 --json")]
    Versions {
        /// Name of the package, as its manager has it
        package: String,
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        rows: Rows,
    },
    /// Query the tables with one SELECT
    #[command(after_help = "\
Examples:
  cograph-org sql 'SELECT name, count(*) FROM packages GROUP BY name ORDER BY 2 DESC'
  cograph-org sql \"SELECT symbol_version(callee), count(*) FROM calls
                   WHERE symbol_package(callee) = 'flask' GROUP BY 1\"
Tables and columns: docs/parquet.md. Functions: those of DataFusion, and symbol_name,
symbol_manager, symbol_package, symbol_version, symbol_descriptors of a SCIP symbol.")]
    Sql {
        /// The statement
        statement: String,
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        rows: Rows,
    },
    /// The process of one statement of `sql`, for this program itself
    #[command(hide = true)]
    Statement {
        #[command(flatten)]
        common: Common,
    },
    /// Serve the questions as tools of the Model Context Protocol
    #[command(after_help = "\
Examples:
  cograph-org mcp --data /data/graph                            http://127.0.0.1:8765/mcp
  COGRAPH_ORG_TOKEN=… cograph-org mcp --listen 0.0.0.0:8765     behind a proxy with TLS
  cograph-org mcp --stdio --data s3://bucket/graph              for one client")]
    Mcp {
        /// Address to listen on; one that is not loopback needs COGRAPH_ORG_TOKEN
        #[arg(long, default_value = "127.0.0.1:8765")]
        listen: SocketAddr,
        /// Serve one client on standard input and output
        #[arg(long, conflicts_with_all = ["listen", "allow_origin"])]
        stdio: bool,
        /// Origin of web pages that may ask, such as https://tools.example.org:443
        #[arg(long)]
        allow_origin: Vec<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Merge the files of the tables, so that questions read little: run it after exports
    #[command(after_help = "\
Examples:
  cograph-org compact --data /data/graph
  cograph-org compact --data s3://bucket/graph --memory 4096")]
    Compact {
        /// Also what has not changed
        #[arg(long)]
        again: bool,
        #[command(flatten)]
        common: Common,
    },
}

/// Options of all commands.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// Where the tables are: a directory, s3://bucket/prefix, or https://… of compacted tables
    #[arg(long, env = "COGRAPH_ORG_DATA", value_name = "URL|DIR")]
    pub(crate) data: String,
    /// Memory of the engine, in MiB
    #[arg(long, default_value_t = 1024, value_parser = memory_range())]
    memory: u64,
    /// Time of a question, in seconds
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Report on standard error what was read
    #[arg(long)]
    pub(crate) reads: bool,
}

/// Options of questions.
#[derive(Args, Debug)]
pub(crate) struct Rows {
    /// Rows to show
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: u16,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Permitted memory, in MiB.
fn memory_range() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(16..=1 << 20)
}

impl Common {
    /// Memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        usize::try_from(self.memory << 20).unwrap_or(usize::MAX)
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

impl Rows {
    pub(crate) fn limit(&self) -> usize {
        self.limit.into()
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
