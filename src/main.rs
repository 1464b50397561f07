//! The `cograph` program: runs `cli` and returns its exit code.

/// Global allocator, also of the parser and of SQLite: it replaces malloc. Elsewhere the system's.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    cograph::cli::main()
}
