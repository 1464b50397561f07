//! Serves the buckets in a directory by the protocol of S3, for measures: `s3 DIR`.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]

use std::path::Path;

fn main() {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let address = cograph_s3_test::serve(Path::new(&directory));
    let (user, secret) = cograph_s3_test::USER;
    println!(
        "AWS_ENDPOINT=http://{address} AWS_ACCESS_KEY_ID={user} AWS_SECRET_ACCESS_KEY='{secret}'"
    );
    loop {
        std::thread::park();
    }
}
