//! axum as in its documentation: a router with two handlers, served by `axum::serve`, with
//! TCP_NODELAY by its listener's own hook.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::ListenerExt;
use bytes::Bytes;
use common::{Bodies, Call};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

fn main() {
    let call = Call::read("axum_server");
    let bodies = call.bodies();
    let runtime = match call.threads {
        1 => Builder::new_current_thread().enable_all().build(),
        n => Builder::new_multi_thread().worker_threads(n).enable_all().build(),
    };
    let served = runtime.and_then(|r| r.block_on(serve(call.listen(), bodies)));
    if let Err(e) = served {
        call.failed(&e)
    }
}

async fn serve(listener: std::net::TcpListener, bodies: Bodies) -> std::io::Result<()> {
    const JSON: [(axum::http::HeaderName, &str); 1] = [(CONTENT_TYPE, "application/json")];
    let app = Router::new()
        .route("/simple", get(move || async move { (JSON, Bytes::from_static(bodies.simple)) }))
        .route("/read", get(move || async move { (JSON, Bytes::from_static(bodies.read())) }));
    let listener = TcpListener::from_std(listener)?.tap_io(|stream| {
        // Only of a stream that is closed already, which the server then sees itself.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await
}
