//! Errors of the requests of an editor, with their codes in the protocol.

use lsp_server::{ErrorCode, RequestId, Response};

use cograph_query::QueryError;

/// Code of a request that the client has cancelled.
const CANCELLED: i32 = -32_800;
/// Code of a request that is valid and cannot be answered.
const REQUEST_FAILED: i32 = -32_803;

/// Error of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failure {
    code: i32,
    message: String,
}

impl Failure {
    /// The request cannot be answered.
    pub(super) fn request(message: impl Into<String>) -> Self {
        Self { code: REQUEST_FAILED, message: message.into() }
    }

    /// The client has cancelled the request.
    pub(super) fn cancelled() -> Self {
        Self { code: CANCELLED, message: "cancelled".to_owned() }
    }

    /// The parameters are not those of the method.
    pub(super) fn parameters(error: &serde_json::Error) -> Self {
        Self { code: ErrorCode::InvalidParams as i32, message: error.to_string() }
    }

    /// The method is not offered.
    pub(super) fn method(method: &str) -> Self {
        let message = format!("`{method}` is not offered");
        Self { code: ErrorCode::MethodNotFound as i32, message }
    }

    /// A defect of the server.
    pub(super) fn defect(message: String) -> Self {
        Self { code: ErrorCode::InternalError as i32, message }
    }

    pub(super) fn response(self, id: RequestId) -> Response {
        Response::new_err(id, self.code, self.message)
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Cancelled => Self::cancelled(),
            error => Self::request(error.to_string()),
        }
    }
}
