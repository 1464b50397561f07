//! Address of an object store: a directory, `file://`, `s3://`, `http://` or `https://`.
//! Credentials are the variables that the caller passes; no other place is read.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, RetryConfig};

use crate::error::PublishError;
use crate::http::HyperConnector;

/// Time of one object, with all attempts.
pub const OBJECT_TIMEOUT: Duration = Duration::from_secs(120);
/// Attempts of a request after the first.
const RETRIES: usize = 4;

/// Environment variables that an object store may read.
pub type Variables = [(String, String)];

/// How a reference is swapped.
#[derive(Debug)]
pub(crate) enum Swap {
    /// Under a lock file in this directory, by a rename.
    Locked(PathBuf),
    /// By a conditional write.
    Conditional,
    /// The store can only be read.
    Never,
}

/// Store, path of all objects, and how a reference is swapped.
pub(crate) type Opened = (Arc<dyn ObjectStore>, Path, Swap);

/// Opens an address. A directory is created to write into it.
pub(crate) fn open(url: &str, variables: &Variables, writes: bool) -> Result<Opened, PublishError> {
    let refused = |reason: String| PublishError::Address { url: without_secret(url), reason };
    let failed = |error: object_store::Error| refused(reason(&error));
    let Some((scheme, rest)) = url.split_once("://") else {
        return directory(PathBuf::from(url), writes)?.map_err(failed);
    };
    match scheme {
        "file" if !rest.starts_with('/') => Err(refused("a path follows `file://`".to_owned())),
        "file" => directory(PathBuf::from(rest), writes)?.map_err(failed),
        "s3" => s3(url, variables).map_err(failed),
        #[cfg(feature = "gcs")]
        "gs" => gcs(url, variables).map_err(failed),
        #[cfg(feature = "azure")]
        "az" | "abfss" => azure(url, variables).map_err(failed),
        "http" | "https" if writes => Err(refused("it can only be pulled from".to_owned())),
        "http" | "https" => {
            let store = HttpBuilder::new()
                .with_url(url)
                .with_retry(retry())
                .with_http_connector(HyperConnector { allows_http: true })
                .build()
                .map_err(failed)?;
            Ok((Arc::new(store), Path::default(), Swap::Never))
        }
        other => Err(refused(format!("`{other}` is no known kind of store"))),
    }
}

fn directory(
    directory: PathBuf,
    writes: bool,
) -> Result<object_store::Result<Opened>, PublishError> {
    if writes {
        std::fs::create_dir_all(&directory)
            .map_err(|error| PublishError::Local { attempt: "creating the directory", error })?;
    }
    Ok(LocalFileSystem::new_with_prefix(&directory).map(|store| {
        let store: Arc<dyn ObjectStore> = Arc::new(store.with_fsync(true));
        (store, Path::default(), Swap::Locked(directory))
    }))
}

/// S3. Without credentials in the variables requests are not signed: those of the machine are not
/// requested.
fn s3(url: &str, variables: &Variables) -> object_store::Result<Opened> {
    use AmazonS3ConfigKey::{
        AccessKeyId, ContainerCredentialsFullUri, ContainerCredentialsRelativeUri,
        WebIdentityTokenFile,
    };
    let mut builder = AmazonS3Builder::new()
        .with_url(url)
        .with_retry(retry())
        .with_http_connector(HyperConnector { allows_http: false });
    let mut is_signed = false;
    for (name, value) in variables {
        let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() else { continue };
        is_signed |= matches!(
            key,
            AccessKeyId
                | WebIdentityTokenFile
                | ContainerCredentialsRelativeUri
                | ContainerCredentialsFullUri
        );
        builder = builder.with_config(key, value);
    }
    let store = builder.with_skip_signature(!is_signed).build()?;
    Ok((Arc::new(store), prefix_of(url), Swap::Conditional))
}

#[cfg(feature = "gcs")]
fn gcs(url: &str, variables: &Variables) -> object_store::Result<Opened> {
    use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_url(url)
        .with_retry(retry())
        .with_http_connector(HyperConnector { allows_http: false });
    for (name, value) in variables {
        if let Ok(key) = name.to_ascii_lowercase().parse::<GoogleConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    Ok((Arc::new(builder.build()?), prefix_of(url), Swap::Conditional))
}

#[cfg(feature = "azure")]
fn azure(url: &str, variables: &Variables) -> object_store::Result<Opened> {
    use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
    let mut builder = MicrosoftAzureBuilder::new()
        .with_url(url)
        .with_retry(retry())
        .with_http_connector(HyperConnector { allows_http: false });
    for (name, value) in variables {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AzureConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    Ok((Arc::new(builder.build()?), prefix_of(url), Swap::Conditional))
}

/// What follows the bucket.
fn prefix_of(url: &str) -> Path {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    Path::from(rest.split_once('/').map_or("", |(_, prefix)| prefix))
}

/// Repetitions of failed requests.
fn retry() -> RetryConfig {
    RetryConfig { max_retries: RETRIES, retry_timeout: OBJECT_TIMEOUT, ..RetryConfig::default() }
}

/// Message of an error with those of its causes that it does not contain.
pub(crate) fn reason(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(known) = cause {
        let message = known.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = known.source();
    }
    text
}

/// Address without what is between its scheme and an `@`, or behind a `?`.
fn without_secret(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host = rest.split('/').next().unwrap_or_default();
    let open = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{open}{}", &rest[host.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        for (url, shown) in [
            ("https://user:password@host/a@b?token=1", "https://host/a@b"),
            ("s3://bucket/prefix", "s3://bucket/prefix"),
            ("/a/directory", "/a/directory"),
        ] {
            assert_eq!(without_secret(url), shown);
        }
    }

    #[test]
    fn addresses_of_no_known_kind_are_refused() {
        for url in ["ftp://host/x", "file://relative", "https://host/x", "s3://"] {
            let opened = open(url, &[], true);
            assert!(matches!(opened, Err(PublishError::Address { .. })), "{url}");
        }
        assert_eq!(prefix_of("s3://bucket/team/project"), Path::from("team/project"));
        assert_eq!(prefix_of("s3://bucket"), Path::default());
    }
}
