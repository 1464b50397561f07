//! Language server over stdio: the questions of an editor, answered from the same indexes as the
//! tools.
//!
//! ```text
//! reader thread (lsp-server) -> loop: requests -> queue -> 4 threads -> writer thread (lsp-server)
//!                               notifications: folders, unsaved buffers, cancellation
//! ```
//!
//! An answer is about the files at the moment of the request; a buffer with unsaved changes is
//! reported. `initialize` opens nothing; the folders are indexed when it is over.

mod answers;
mod capabilities;
mod failure;
mod folders;
mod hierarchies;
mod positions;
mod progress;
mod requests;
mod view;

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    Cancel, DidChangeTextDocument, DidChangeWorkspaceFolders, DidCloseTextDocument,
    DidSaveTextDocument, Initialized, LogMessage, Notification as _,
};
use lsp_types::{
    CancelParams, DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidSaveTextDocumentParams, InitializeParams, LogMessageParams,
    MessageType, NumberOrString,
};
use parking_lot::Mutex;

use crate::workspace::repositories::{Patience, Repositories};
use cograph_config::{Config, ConfigError};
use cograph_model::cancel::CancelToken;
use cograph_model::panics;
use failure::Failure;
use folders::Folders;
use positions::Encoding;
use progress::EditorHost;

/// Number of requests that are answered at the same time.
const THREADS: usize = 4;

/// Maximum number of requests that wait for a thread.
const MAX_QUEUED: usize = 256;

/// Timeout of waiting for an index: the client shows the progress, and can cancel.
const NO_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// State of the session.
struct Editor {
    repositories: Repositories,
    folders: Mutex<Folders>,
    encoding: Encoding,
    /// True if the client can show nested symbols of a document.
    nests_symbols: bool,
    /// True if the client shows progress.
    shows_progress: bool,
    /// Requests without an answer.
    open: Mutex<HashMap<RequestId, CancelToken>>,
    output: Box<dyn Fn(Message) + Send + Sync>,
}

/// Work of the threads.
enum Work {
    /// Answer a request.
    Answer(Request, CancelToken),
    /// Index the folders, so that the first request finds an index.
    Prepare,
}

/// Serves an editor over stdio until it sends `exit` or closes the input.
pub fn run_language_server(config: Result<Config, ConfigError>) -> io::Result<()> {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection, config);
    // The writer ends with the last sender.
    drop(connection);
    threads.join()?;
    served
}

fn serve(connection: &Connection, config: Result<Config, ConfigError>) -> io::Result<()> {
    let Ok((id, params)) = connection.initialize_start() else { return Ok(()) };
    let params: InitializeParams = serde_json::from_value(params)?;
    let encodings = params.capabilities.general.as_ref();
    let encoding = Encoding::of(encodings.and_then(|known| known.position_encodings.as_deref()));
    if connection.initialize_finish(id, capabilities::initialized(encoding)).is_err() {
        return Ok(());
    }
    let client = &params.capabilities;
    let documents = client.text_document.as_ref().and_then(|known| known.document_symbol.as_ref());
    let patience = Patience { first: NO_TIMEOUT, renewal: NO_TIMEOUT };
    let sender = connection.sender.clone();
    let editor = Arc::new(Editor {
        repositories: Repositories::new(config, None, patience),
        folders: Mutex::new(Folders::of(&params)),
        encoding,
        nests_symbols: documents
            .and_then(|known| known.hierarchical_document_symbol_support)
            .unwrap_or_default(),
        shows_progress: client
            .window
            .as_ref()
            .and_then(|window| window.work_done_progress)
            .unwrap_or_default(),
        open: Mutex::default(),
        // The send fails only after the writer has ended, with the session.
        output: Box::new(move |message| drop(sender.send(message))),
    });
    let (queue, work) = mpsc::sync_channel(MAX_QUEUED);
    let work = Arc::new(Mutex::new(work));
    let started = (0..THREADS).map(|number| {
        let (editor, work) = (Arc::clone(&editor), Arc::clone(&work));
        let run = move || {
            loop {
                // The lock is held while waiting: one thread waits, the others wait for it.
                let next = work.lock().recv();
                match next {
                    Ok(next) => editor.run(next),
                    Err(_) => break,
                }
            }
        };
        thread::Builder::new().name(format!("editor-{number}")).spawn(run)
    });
    let threads = started.collect::<io::Result<Vec<_>>>()?;
    drop(queue.try_send(Work::Prepare));
    for message in &connection.receiver {
        match message {
            Message::Request(request) => match connection.handle_shutdown(&request) {
                Ok(false) => {
                    let cancel = CancelToken::new();
                    editor.open.lock().insert(request.id.clone(), cancel.clone());
                    let id = request.id.clone();
                    if queue.try_send(Work::Answer(request, cancel)).is_err() {
                        editor.open.lock().remove(&id);
                        let busy = Failure::request("too many requests are waiting");
                        (editor.output)(Message::Response(busy.response(id)));
                    }
                }
                Ok(true) | Err(_) => break,
            },
            Message::Notification(notification) => {
                if notification.method == "exit" {
                    break;
                }
                if editor.take(notification) {
                    // With a full queue, the next request indexes the folder.
                    drop(queue.try_send(Work::Prepare));
                }
            }
            // Of the requests to show progress: there is nothing to do with them.
            Message::Response(_) => {}
        }
    }
    let open: Vec<CancelToken> = editor.open.lock().drain().map(|(_, cancel)| cancel).collect();
    open.iter().for_each(CancelToken::cancel);
    drop(queue);
    for thread in threads {
        // A panic of a thread has been logged.
        drop(thread.join());
    }
    Ok(())
}

impl Editor {
    fn run(&self, work: Work) {
        match work {
            Work::Prepare => {
                let host = EditorHost::new(CancelToken::new(), self.progress_output());
                for folder in self.folders.lock().all().to_vec() {
                    if let Err(error) = view::open(&self.repositories, &folder, &host) {
                        tracing::warn!(folder = %folder.display(), ?error, "not indexed");
                    }
                }
            }
            Work::Answer(request, cancel) => {
                let id = request.id.clone();
                let host = EditorHost::new(cancel.clone(), self.progress_output());
                let answered = panics::guarded(|| self.answer(request, &host));
                drop(host);
                let answered = answered.unwrap_or_else(|panic| Err(Failure::defect(panic)));
                self.open.lock().remove(&id);
                let response = match answered {
                    _ if cancel.is_cancelled() => Failure::cancelled().response(id),
                    Ok(result) => Response::new_ok(id, result),
                    Err(failure) => failure.response(id),
                };
                (self.output)(Message::Response(response));
            }
        }
    }

    fn progress_output(&self) -> Option<&(dyn Fn(Message) + Send + Sync)> {
        self.shows_progress.then_some(&*self.output)
    }

    /// Takes a notification. True if folders were opened.
    fn take(&self, notification: Notification) -> bool {
        let Notification { method, params, .. } = notification;
        let mut folders = self.folders.lock();
        match method.as_str() {
            Cancel::METHOD => {
                if let Ok(CancelParams { id }) = serde_json::from_value(params) {
                    let id = match id {
                        NumberOrString::Number(number) => RequestId::from(number),
                        NumberOrString::String(text) => RequestId::from(text),
                    };
                    if let Some(cancel) = self.open.lock().get(&id) {
                        cancel.cancel();
                    }
                }
            }
            DidChangeWorkspaceFolders::METHOD => {
                if let Ok(DidChangeWorkspaceFoldersParams { event }) =
                    serde_json::from_value(params)
                {
                    let opened = event.added.iter().map(|folder| &folder.uri);
                    folders.change(opened, event.removed.iter().map(|folder| &folder.uri));
                    return !event.added.is_empty();
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Ok(DidChangeTextDocumentParams { text_document, .. }) =
                    serde_json::from_value(params)
                    && folders.edited(&text_document.uri)
                {
                    self.say_unsaved(text_document.uri.as_str());
                }
            }
            DidSaveTextDocument::METHOD => {
                if let Ok(DidSaveTextDocumentParams { text_document, .. }) =
                    serde_json::from_value(params)
                {
                    folders.saved(&text_document.uri);
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Ok(DidCloseTextDocumentParams { text_document }) =
                    serde_json::from_value(params)
                {
                    folders.saved(&text_document.uri);
                }
            }
            // Nothing follows from `initialized`, `didOpen` and others.
            Initialized::METHOD => {}
            _ => {}
        }
        false
    }

    /// Once for a document, until it is saved.
    fn say_unsaved(&self, document: &str) {
        let message = format!("{document} has unsaved changes: answers are about the file");
        let params = LogMessageParams { typ: MessageType::INFO, message };
        (self.output)(Message::Notification(Notification::new(
            LogMessage::METHOD.to_owned(),
            params,
        )));
    }
}
