//! What the server offers an editor, and how kinds of symbols are named to it.

use lsp_types::{
    CallHierarchyServerCapability, DeclarationCapability, HoverProviderCapability,
    ImplementationProviderCapability, OneOf, SaveOptions, ServerCapabilities, SymbolKind,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use serde_json::{Value, json};

use super::positions::Encoding;
use cograph_model as model;

/// Result of `initialize`.
pub(super) fn initialized(encoding: Encoding) -> Value {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        // Only that a buffer has changed is of interest: answers are about the files.
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions::default())),
        ..TextDocumentSyncOptions::default()
    };
    let folders = WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(OneOf::Left(true)),
    };
    let capabilities = ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        declaration_provider: Some(DeclarationCapability::Simple(true)),
        implementation_provider: Some(ImplementationProviderCapability::Simple(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(folders),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    };
    let mut capabilities = json!(capabilities);
    // The types of the protocol lack this one.
    capabilities["typeHierarchyProvider"] = Value::Bool(true);
    json!({
        "capabilities": capabilities,
        "serverInfo": {"name": "cograph", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// Kind of a symbol in the protocol.
pub(super) fn kind(kind: model::SymbolKind) -> SymbolKind {
    use model::SymbolKind as Kind;
    match kind {
        Kind::Module => SymbolKind::MODULE,
        Kind::Namespace => SymbolKind::NAMESPACE,
        Kind::Class | Kind::TypeAlias => SymbolKind::CLASS,
        Kind::Struct | Kind::Union => SymbolKind::STRUCT,
        Kind::Interface | Kind::Trait => SymbolKind::INTERFACE,
        Kind::Enum => SymbolKind::ENUM,
        Kind::Variant => SymbolKind::ENUM_MEMBER,
        Kind::Function | Kind::Macro | Kind::Test => SymbolKind::FUNCTION,
        Kind::Method => SymbolKind::METHOD,
        Kind::Constructor => SymbolKind::CONSTRUCTOR,
        Kind::Field => SymbolKind::FIELD,
        Kind::Constant => SymbolKind::CONSTANT,
        Kind::Variable => SymbolKind::VARIABLE,
    }
}
