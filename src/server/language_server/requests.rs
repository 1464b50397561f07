//! Requests by their methods.

use lsp_server::Request;
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare,
    DocumentSymbolRequest, GotoDeclaration, GotoDefinition, GotoImplementation, HoverRequest,
    References, Request as _, TypeHierarchyPrepare, TypeHierarchySubtypes, TypeHierarchySupertypes,
    WorkspaceSymbolRequest,
};
use lsp_types::{
    CallHierarchyIncomingCallsParams, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams,
    DocumentSymbolParams, GotoDefinitionParams, HoverParams, Position, ReferenceParams,
    TextDocumentPositionParams, TypeHierarchyPrepareParams, TypeHierarchySubtypesParams,
    TypeHierarchySupertypesParams, Uri, WorkspaceSymbolParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answers::{self, EntityForm};
use super::failure::Failure;
use super::view::{self, View};
use super::{Editor, hierarchies};
use crate::workspace::host::Host;
use cograph_model::RepoPath;
use cograph_query::navigate::Side;

impl Editor {
    /// Result of a request.
    pub(super) fn answer(&self, request: Request, host: &dyn Host) -> Result<Value, Failure> {
        let Request { method, params, .. } = request;
        match method.as_str() {
            GotoDefinition::METHOD => {
                let GotoDefinitionParams { text_document_position_params: at, .. } = read(params)?;
                self.at(&at, host, |view, path, at| {
                    answers::definitions(view, path, at, EntityForm::Definition)
                })
            }
            GotoDeclaration::METHOD => {
                let GotoDefinitionParams { text_document_position_params: at, .. } = read(params)?;
                self.at(&at, host, |view, path, at| {
                    answers::definitions(view, path, at, EntityForm::Declaration)
                })
            }
            GotoImplementation::METHOD => {
                let GotoDefinitionParams { text_document_position_params: at, .. } = read(params)?;
                self.at(&at, host, answers::implementations)
            }
            References::METHOD => {
                let ReferenceParams { text_document_position: at, context, .. } = read(params)?;
                self.at(&at, host, |view, path, at| {
                    answers::references(view, path, at, context.include_declaration)
                })
            }
            HoverRequest::METHOD => {
                let HoverParams { text_document_position_params: at, .. } = read(params)?;
                let is_unsaved = self.folders.lock().is_unsaved(&at.text_document.uri);
                self.at(&at, host, |view, path, at| answers::hover(view, path, at, is_unsaved))
            }
            DocumentSymbolRequest::METHOD => {
                let DocumentSymbolParams { text_document, .. } = read(params)?;
                if self.nests_symbols {
                    self.in_document(&text_document.uri, host, answers::document_symbols)
                } else {
                    self.in_document(&text_document.uri, host, answers::flat_symbols)
                }
            }
            WorkspaceSymbolRequest::METHOD => {
                let WorkspaceSymbolParams { query, .. } = read(params)?;
                self.in_folders(&query, host)
            }
            CallHierarchyPrepare::METHOD => {
                let CallHierarchyPrepareParams { text_document_position_params: at, .. } =
                    read(params)?;
                self.at(&at, host, |view, path, at| {
                    hierarchies::prepare(view, path, at, hierarchies::call_item)
                })
            }
            CallHierarchyIncomingCalls::METHOD => {
                let CallHierarchyIncomingCallsParams { item, .. } = read(params)?;
                let at = item.selection_range.start;
                self.in_document(&item.uri, host, |view, path| {
                    hierarchies::incoming(view, path, at)
                })
            }
            CallHierarchyOutgoingCalls::METHOD => {
                let CallHierarchyOutgoingCallsParams { item, .. } = read(params)?;
                let at = item.selection_range.start;
                self.in_document(&item.uri, host, |view, path| {
                    hierarchies::outgoing(view, path, at)
                })
            }
            TypeHierarchyPrepare::METHOD => {
                let TypeHierarchyPrepareParams { text_document_position_params: at, .. } =
                    read(params)?;
                self.at(&at, host, |view, path, at| {
                    hierarchies::prepare(view, path, at, hierarchies::type_item)
                })
            }
            TypeHierarchySupertypes::METHOD => {
                let TypeHierarchySupertypesParams { item, .. } = read(params)?;
                let at = item.selection_range.start;
                self.in_document(&item.uri, host, |view, path| {
                    hierarchies::relatives(view, path, at, Side::Above)
                })
            }
            TypeHierarchySubtypes::METHOD => {
                let TypeHierarchySubtypesParams { item, .. } = read(params)?;
                let at = item.selection_range.start;
                self.in_document(&item.uri, host, |view, path| {
                    hierarchies::relatives(view, path, at, Side::Below)
                })
            }
            _ => Err(Failure::method(&method)),
        }
    }

    /// Answers a request about a position.
    fn at<T: Serialize>(
        &self,
        at: &TextDocumentPositionParams,
        host: &dyn Host,
        answer: impl FnOnce(&mut View<'_>, &RepoPath, Position) -> Result<T, Failure>,
    ) -> Result<Value, Failure> {
        let TextDocumentPositionParams { text_document, position } = at;
        self.in_document(&text_document.uri, host, |view, path| answer(view, path, *position))
    }

    /// Answers a request about a document: null if it is in no repository.
    fn in_document<T: Serialize>(
        &self,
        document: &Uri,
        host: &dyn Host,
        answer: impl FnOnce(&mut View<'_>, &RepoPath) -> Result<T, Failure>,
    ) -> Result<Value, Failure> {
        let document = view::document_of(document)?;
        let Some(folder) = self.folders.lock().around(&document) else { return Ok(Value::Null) };
        let opened = view::open(&self.repositories, &folder, host)?;
        let Some((root, path)) = view::place(opened.root(), &folder, &document) else {
            return Ok(Value::Null);
        };
        let mut view = View::new(&opened, &root, self.encoding, host.cancel());
        written(&answer(&mut view, &path)?)
    }

    /// Symbols of all folders whose name matches.
    fn in_folders(&self, text: &str, host: &dyn Host) -> Result<Value, Failure> {
        let mut found = Vec::new();
        let mut roots = Vec::new();
        for folder in self.folders.lock().all().to_vec() {
            let opened = view::open(&self.repositories, &folder, host)?;
            let root = opened.root().to_path_buf();
            // Several folders may be of one repository.
            if !roots.contains(&root) {
                let mut view = View::new(&opened, &root, self.encoding, host.cancel());
                found.extend(answers::workspace_symbols(&mut view, text)?);
                roots.push(root);
            }
        }
        written(&found)
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Failure> {
    serde_json::from_value(params).map_err(|error| Failure::parameters(&error))
}

fn written(result: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(result).map_err(|error| Failure::defect(error.to_string()))
}
