//! hyper alone: its HTTP/1 connection on tokio, as in its guide, with a match on the path
//! in place of a router.
//!
//! Pipelined answers are flushed together, as fasthttp does. Without a timer hyper has no
//! timeouts; the lab's server has none either.

use std::convert::Infallible;

use bytes::Bytes;
use common::{Bodies, Call};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

fn main() {
    let call = Call::read("hyper_server");
    let bodies = call.bodies();
    let runtime = match call.threads {
        1 => Builder::new_current_thread().enable_io().build(),
        n => Builder::new_multi_thread().worker_threads(n).enable_io().build(),
    };
    let served = runtime.and_then(|r| r.block_on(serve(call.listen(), bodies)));
    if let Err(e) = served {
        call.failed(&e)
    }
}

async fn serve(listener: std::net::TcpListener, bodies: Bodies) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let service = service_fn(move |request| async move { Ok::<_, Infallible>(answer(&request, bodies)) });
            // An error here is a client that went away or sent no HTTP.
            let _ = http1::Builder::new().pipeline_flush(true).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn answer(request: &Request<Incoming>, bodies: Bodies) -> Response<Full<Bytes>> {
    let (status, body) = match request.uri().path() {
        "/simple" | "/read" if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            (StatusCode::METHOD_NOT_ALLOWED, &br#"{"error":"method not allowed"}"#[..])
        }
        "/simple" => (StatusCode::OK, bodies.simple),
        "/read" => (StatusCode::OK, bodies.read()),
        _ => (StatusCode::NOT_FOUND, &br#"{"error":"no such route"}"#[..]),
    };
    let mut response = Response::new(Full::new(Bytes::from_static(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
