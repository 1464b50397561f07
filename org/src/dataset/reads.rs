//! An object store that counts what is read from it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// Numbers of requests and bytes.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Reads {
    /// Requests and bytes so far. A list is one request, whatever the number of its pages.
    pub(crate) fn so_far(&self) -> (u64, u64) {
        (self.requests.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Adds what was read.
    pub(crate) fn add(&self, requests: u64, bytes: u64) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The store below, counted.
#[derive(Debug)]
pub(crate) struct CountedStore {
    pub(crate) inner: Arc<dyn ObjectStore>,
    pub(crate) reads: Arc<Reads>,
}

impl fmt::Display for CountedStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(formatter)
    }
}

#[async_trait]
impl ObjectStore for CountedStore {
    async fn put_opts(&self, at: &Path, data: PutPayload, how: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(at, data, how).await
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, how).await
    }

    async fn get_opts(&self, at: &Path, how: GetOptions) -> Result<GetResult> {
        let is_head = how.head;
        let found = self.inner.get_opts(at, how).await;
        let bytes = match &found {
            Ok(found) if !is_head => found.range.end - found.range.start,
            _ => 0,
        };
        self.reads.add(1, bytes);
        found
    }

    async fn get_ranges(&self, at: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let found = self.inner.get_ranges(at, ranges).await?;
        self.reads.add(1, found.iter().map(|part| part.len() as u64).sum());
        Ok(found)
    }

    fn delete_stream(
        &self,
        places: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(places)
    }

    fn list(&self, below: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.reads.add(1, 0);
        self.inner.list(below).boxed()
    }

    async fn list_with_delimiter(&self, below: Option<&Path>) -> Result<ListResult> {
        self.reads.add(1, 0);
        self.inner.list_with_delimiter(below).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, how).await
    }
}
