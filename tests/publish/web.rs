//! A web server with published indexes: it lists nothing, and may send anything.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::thread;

use super::team::Team;

/// What is sent for a path instead of its file.
type Answer = fn(&str) -> Option<Vec<u8>>;

/// Serves files below a directory for one test; returns the address. The thread ends with the
/// process.
fn serve(directory: PathBuf, replace: Answer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::Builder::new()
        .name("web".to_owned())
        .spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut lines = BufReader::new(stream.try_clone().expect("a descriptor")).lines();
                let Some(Ok(first)) = lines.next() else { continue };
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let decoded = path.trim_start_matches('/').replace("%3D", "=");
                let answer =
                    replace(&path).unwrap_or_else(|| match fs::read(directory.join(decoded)) {
                        Ok(bytes) => {
                            let mut answer = response(&bytes.len().to_string(), "");
                            answer.extend(bytes);
                            answer
                        }
                        Err(_) => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: \
                                    close\r\n\r\n"
                            .to_vec(),
                    });
                // The client may have ended the connection.
                let _ = stream.write_all(&answer);
            }
        })
        .expect("a thread starts");
    format!("http://{address}")
}

/// A response with this size and the begin of its body.
fn response(size: &str, body: &str) -> Vec<u8> {
    let time = "Tue, 01 Oct 2024 10:00:00 GMT";
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\nlast-modified: {time}");
    format!("{head}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

#[test]
fn an_index_is_pulled_from_a_web_server() {
    let team = Team::new();
    team.publish("ci");
    team.clone_to("laptop");
    team.git("laptop", &["checkout", "-q", "-b", "feature/y"]);
    let url = serve(team.published(), |_| None);
    let pulled = team.done("laptop", &["pull", &url]);
    assert!(pulled.contains("the commit that is checked out"), "{pulled}");
    assert_eq!(team.rows("laptop"), team.fresh_rows("laptop"));
    let (code, _, message) = team.run("ci", &["publish", &url]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("can only be pulled from"), "{message}");
}

#[test]
fn a_web_server_that_sends_anything_costs_an_error() {
    let team = Team::new();
    team.publish("ci");
    team.clone_to("laptop");
    let answers: [Answer; 3] = [
        |_| Some(response("99999999999999", "")),
        |_| Some(response("3", "<ht")),
        |path| path.contains("/pieces/").then(|| b"no protocol at all\r\n\r\n".to_vec()),
    ];
    for (number, answer) in answers.into_iter().enumerate() {
        let url = serve(team.published(), answer);
        let (code, _, message) = team.run("laptop", &["pull", &url]);
        assert_eq!(code, Some(3), "{number}: {message}");
        assert!(!team.cache("laptop").exists() || team.done("laptop", &["status"]).len() > 1);
    }
}
