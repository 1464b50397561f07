//! A server of the S3 protocol that keeps its objects in a directory, for the time of a test.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

/// Name of the only user, and its secret.
pub const USER: (&str, &str) = ("publisher", "a secret of the test");

/// Serves the buckets in a directory until the process ends.
pub fn serve(directory: &Path) -> SocketAddr {
    let files = s3s_fs::FileSystem::new(directory).expect("the directory exists");
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single(USER.0, USER.1));
    let service = builder.build();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts");
    let listener =
        runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    std::thread::Builder::new()
        .name("s3".to_owned())
        .spawn(move || {
            runtime.block_on(async move {
                let http = Builder::new(TokioExecutor::new());
                let writing = Arc::new(Mutex::new(()));
                while let Ok((stream, _)) = listener.accept().await {
                    // Or else the end of each answer waits for an acknowledgement.
                    let _ = stream.set_nodelay(true);
                    let (service, writing) = (service.clone(), Arc::clone(&writing));
                    // The server compares and writes in two steps, S3 in one: one write at a time.
                    let one_write = service_fn(move |request: Request<Incoming>| {
                        let (service, writing) = (service.clone(), Arc::clone(&writing));
                        async move {
                            let _turn = match *request.method() {
                                Method::PUT => Some(writing.lock().await),
                                _ => None,
                            };
                            service.call(request.map(s3s::Body::from)).await
                        }
                    });
                    let connection = http.serve_connection(TokioIo::new(stream), one_write);
                    let connection = connection.into_owned();
                    tokio::spawn(async move {
                        // A client may end its connection at any time.
                        let _ = connection.await;
                    });
                }
            });
        })
        .expect("a thread starts");
    address
}
