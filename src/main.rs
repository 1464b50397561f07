//! The `cograph` program: hands the command line to `cli` and turns its result into an exit code.

fn main() -> std::process::ExitCode {
    cograph::cli::main()
}
