//! The `cograph` program: hands the command line to `cli` and turns its result into an exit code.

/// Of the parser and of SQLite too: it takes the place of the C library's.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    cograph::cli::main()
}
