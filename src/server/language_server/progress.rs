//! Host of the requests of an editor: cancellation, and the progress of an index.

use lsp_server::{Message, Notification, Request, RequestId};
use lsp_types::notification::{Notification as _, Progress};
use lsp_types::request::{Request as _, WorkDoneProgressCreate};
use lsp_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::workspace::host::Host;
use crate::workspace::metrics::{ProgressReport, ServerState};
use cograph_model::cancel::CancelToken;

/// Names of progress that the client has been asked to show, over all requests of the process.
static LAST: AtomicU64 = AtomicU64::new(0);

/// See the module.
pub(super) struct EditorHost<'o> {
    cancel: CancelToken,
    /// None if the client shows no progress.
    output: Option<&'o (dyn Fn(Message) + Send + Sync)>,
    /// Token of the progress, from the first report on.
    shown: Mutex<Option<NumberOrString>>,
}

impl<'o> EditorHost<'o> {
    pub(super) fn new(
        cancel: CancelToken,
        output: Option<&'o (dyn Fn(Message) + Send + Sync)>,
    ) -> Self {
        Self { cancel, output, shown: Mutex::default() }
    }

    fn send(&self, token: NumberOrString, progress: WorkDoneProgress) {
        let params = ProgressParams { token, value: ProgressParamsValue::WorkDone(progress) };
        if let Some(output) = self.output {
            output(Message::Notification(Notification::new(Progress::METHOD.to_owned(), params)));
        }
    }
}

impl Host for EditorHost<'_> {
    fn cancel(&self) -> &CancelToken {
        &self.cancel
    }

    fn progress(&self, report: &ProgressReport) {
        let Some(output) = self.output else { return };
        let (message, percentage) = (Some(report.message.clone()), Some(report.thousandths / 10));
        let mut shown = self.shown.lock();
        if let Some(token) = &*shown {
            let report = WorkDoneProgressReport { cancellable: Some(false), message, percentage };
            self.send(token.clone(), WorkDoneProgress::Report(report));
            return;
        }
        let name = format!("cograph-{}", LAST.fetch_add(1, Ordering::Relaxed));
        let token = NumberOrString::String(name.clone());
        output(Message::Request(Request::new(
            RequestId::from(name),
            WorkDoneProgressCreate::METHOD.to_owned(),
            WorkDoneProgressCreateParams { token: token.clone() },
        )));
        let begin = WorkDoneProgressBegin {
            title: "Indexing".to_owned(),
            cancellable: Some(false),
            message,
            percentage,
        };
        self.send(token.clone(), WorkDoneProgress::Begin(begin));
        *shown = Some(token);
    }

    fn compares(&self, _: bool) {}

    fn pause(&self) {}

    fn resume(&self) -> bool {
        !self.cancel.is_cancelled()
    }

    fn server(&self) -> Option<&ServerState> {
        None
    }

    fn spent_in_statements(&self, _: Duration) {}
}

impl Drop for EditorHost<'_> {
    fn drop(&mut self) {
        if let Some(token) = self.shown.lock().take() {
            self.send(token, WorkDoneProgress::End(WorkDoneProgressEnd { message: None }));
        }
    }
}
