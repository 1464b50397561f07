//! The tables that `callers` is answered from: calls in order of the name of their callee, and the
//! numbers of each callee.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
use datafusion::prelude::col;
use futures::StreamExt as _;

use super::Run;
use super::inputs::digest;
use super::writer::PartWriter;
use crate::dataset::manifest::CompactFile;
use crate::error::{OrgError, Result};
use crate::questions::callees::{CalleeUses, Counting};
use crate::questions::rows::Rows;
use crate::schema::{CALLEES, CALLERS, TABLES};
use crate::session::Failed;

/// Callees that are written together.
const BATCH: usize = 8_192;

impl Run<'_> {
    /// Both tables, made of the compacted calls.
    pub(super) async fn derived(
        &mut self,
        calls: &[CompactFile],
    ) -> Result<(Vec<CompactFile>, Vec<CompactFile>)> {
        let stem = format!("all-{}", digest(calls.iter().map(|file| file.path.clone())));
        let before = (self.kept(&CALLERS, &stem), self.kept(&CALLEES, &stem));
        if let (Some(callers), Some(callees)) = before {
            return Ok((callers, callees));
        }
        self.opened.clear();
        let made = self.named(&stem, calls).await;
        self.explained(made).await
    }

    async fn named(
        &mut self,
        stem: &str,
        calls: &[CompactFile],
    ) -> Result<(Vec<CompactFile>, Vec<CompactFile>), Failed> {
        let Some(table) = TABLES.iter().find(|table| table.name == "calls") else {
            return Ok((Vec::new(), Vec::new()));
        };
        let files = calls.iter().map(Into::into).collect();
        let context = self.context_of(table, files)?;
        let order = CALLERS.order.iter().map(|name| col(*name).sort(true, false)).collect();
        let frame = crate::functions::callers(&context).await?.sort(order)?;
        let mut callers = PartWriter::new(self.location, &CALLERS, stem);
        let mut callees = PartWriter::new(self.location, &CALLEES, stem);
        let (mut counting, mut counted) = (Counting::default(), Vec::new());
        let mut stream = frame.execute_stream().await?;
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            let rows = Rows(&batch);
            for row in 0..batch.num_rows() {
                let text = |column| rows.text(column, row);
                let callee = [text(0)?, text(1)?, text(2)?, text(3)?];
                counted.extend(counting.add(callee, text(4)?, text(7)?, 1));
                if counted.len() == BATCH {
                    callees.write(&of_callees(&counted)?).await?;
                    counted.clear();
                }
            }
            let batch = RecordBatch::try_new(CALLERS.arrow(), batch.columns().to_vec());
            let batch = batch.map_err(|error| OrgError::Engine(error.to_string()))?;
            callers.write(&batch).await?;
        }
        counted.extend(counting.finish());
        callees.write(&of_callees(&counted)?).await?;
        let (callers, callees) = (callers.finish().await?, callees.finish().await?);
        Ok((self.added(callers), self.added(callees)))
    }
}

/// Rows of callees: one for each version.
fn of_callees(counted: &[CalleeUses]) -> Result<RecordBatch> {
    let each = || {
        counted.iter().flat_map(|one| one.versions.iter().map(move |(of, uses)| (one, of, uses)))
    };
    let text = |part: fn(&CalleeUses) -> &str| -> ArrayRef {
        Arc::new(StringViewArray::from_iter_values(each().map(|(one, ..)| part(one))))
    };
    let number = |values: &mut dyn Iterator<Item = u64>| -> ArrayRef {
        let values = values.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
        Arc::new(Int64Array::from_iter_values(values))
    };
    let columns: Vec<ArrayRef> = vec![
        text(|one| &one.callee.name),
        text(|one| &one.callee.manager),
        text(|one| &one.callee.package),
        text(|one| &one.callee.descriptors),
        Arc::new(StringViewArray::from_iter_values(each().map(|(_, version, _)| version))),
        number(&mut each().map(|(.., uses)| uses.calls)),
        number(&mut each().map(|(.., uses)| uses.repositories)),
        number(&mut each().map(|(one, ..)| one.all.calls)),
        number(&mut each().map(|(one, ..)| one.all.repositories)),
    ];
    let batch = RecordBatch::try_new(CALLEES.arrow(), columns);
    batch.map_err(|error| OrgError::Engine(error.to_string()))
}
