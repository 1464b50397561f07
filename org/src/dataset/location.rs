//! Where the data is: a directory, `file://`, `s3://`, `http://` or `https://`. Credentials are the
//! variables that the caller passes; no other place is read.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

use super::reads::{CountedStore, Reads};
use crate::error::{OrgError, Result, reason};

/// Time of one object, with all attempts.
const OBJECT_TIMEOUT: Duration = Duration::from_secs(60);
/// Attempts of a request after the first.
const RETRIES: usize = 3;

/// Environment variables that an object store may read.
pub(crate) type Variables = [(String, String)];

/// The object store of a dataset, whose paths begin at the dataset.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) reads: Arc<Reads>,
    /// Address without user and password.
    pub(crate) shown: String,
    /// A web server has neither lists nor writes.
    pub(crate) is_web: bool,
}

impl Location {
    /// Opens an address. Nothing is read.
    pub(crate) fn open(url: &str, variables: &Variables) -> Result<Self> {
        let shown = without_secret(url);
        let refused = |reason: String| OrgError::Address { url: shown.clone(), reason };
        let failed = |error: object_store::Error| refused(reason(&error));
        if shown != url {
            return Err(refused("credentials come from the environment".to_owned()));
        }
        let mut is_web = false;
        let inner: Arc<dyn ObjectStore> = match url.split_once("://") {
            None => directory(PathBuf::from(url)).map_err(failed)?,
            Some(("file", path)) if path.starts_with('/') => {
                directory(PathBuf::from(path)).map_err(failed)?
            }
            Some(("file", _)) => return Err(refused("a path follows `file://`".to_owned())),
            Some(("s3", _)) => s3(url, variables).map_err(failed)?,
            Some(("http" | "https", _)) => {
                is_web = true;
                let store = HttpBuilder::new()
                    .with_url(url)
                    .with_retry(retry())
                    .with_client_options(ClientOptions::new().with_allow_http(true))
                    .build();
                Arc::new(store.map_err(failed)?)
            }
            Some((other, _)) => {
                return Err(refused(format!("`{other}` is no known kind of store")));
            }
        };
        let reads = Arc::new(Reads::default());
        let store = Arc::new(CountedStore { inner, reads: Arc::clone(&reads) });
        Ok(Self { store, reads, shown, is_web })
    }

    /// An error of the object store.
    pub(crate) fn failed(
        &self,
        attempt: &'static str,
        object: &Path,
        error: &object_store::Error,
    ) -> OrgError {
        let object = format!("{}/{object}", self.shown);
        OrgError::Remote { attempt, object, detail: reason(error) }
    }
}

fn directory(path: PathBuf) -> object_store::Result<Arc<dyn ObjectStore>> {
    Ok(Arc::new(LocalFileSystem::new_with_prefix(path)?.with_automatic_cleanup(false)))
}

/// S3. Without credentials in the variables requests are not signed: those of the machine are not
/// requested.
fn s3(url: &str, variables: &Variables) -> object_store::Result<Arc<dyn ObjectStore>> {
    use AmazonS3ConfigKey::{
        AccessKeyId, ContainerCredentialsFullUri, ContainerCredentialsRelativeUri,
        WebIdentityTokenFile,
    };
    let mut builder = AmazonS3Builder::new().with_url(url).with_retry(retry());
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
    let prefix = url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    let prefix = Path::from(prefix.map_or("", |(_, prefix)| prefix));
    Ok(Arc::new(PrefixStore::new(store, prefix)))
}

/// Repetitions of failed requests.
fn retry() -> RetryConfig {
    RetryConfig { max_retries: RETRIES, retry_timeout: OBJECT_TIMEOUT, ..RetryConfig::default() }
}

/// The address without user, password, query and fragment.
fn without_secret(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    if scheme == "file" {
        return url.to_owned();
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_once('/').map_or((rest, None), |(h, p)| (h, Some(p)));
    let host = host.rsplit('@').next().unwrap_or_default();
    path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::{Location, without_secret};

    #[test]
    fn addresses_are_shown_without_secrets() {
        assert_eq!(without_secret("https://u:p@h/a?token=1"), "https://h/a");
        assert_eq!(without_secret("s3://b/p"), "s3://b/p");
        let error = Location::open("https://u:secret@h/a", &[]).expect_err("refused").report();
        assert!(!error.contains("secret"), "{error}");
        let error = Location::open("ftp://h/a", &[]).expect_err("refused").report();
        assert!(error.contains("no known kind"), "{error}");
    }
}
