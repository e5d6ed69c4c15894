//! ntex's web framework as in its documentation: an application with two resources, on
//! the tokio runtime, which its README names in its example.
//!
//! Its timeouts are off, since the lab's server has none: ntex would close a connection
//! that is idle for five seconds.

use common::{Bodies, Call};
use ntex::SharedCfg;
use ntex::http::{HttpServiceConfig, KeepAlive};
use ntex::time::Seconds;
use ntex::util::Bytes;
use ntex::web::{self, App, HttpResponse, HttpServer};

#[ntex::main]
async fn main() {
    let call = Call::read("ntex_server");
    if let Err(e) = serve(&call, call.bodies()).await {
        call.failed(&e)
    }
}

async fn serve(call: &Call, bodies: Bodies) -> std::io::Result<()> {
    HttpServer::new(async move || {
        App::new()
            .service(route("/simple", move || bodies.simple))
            .service(route("/read", move || bodies.read()))
    })
    .workers(call.threads)
    .disable_signals()
    .config(SharedCfg::new("ntex_server").add(
        HttpServiceConfig::new().set_keepalive(KeepAlive::Os).set_client_timeout(Seconds::ZERO),
    ))
    .listen(call.listen())?
    .run()
    .await
}

/// A resource that knows GET and, as ntex has no such rule of its own, HEAD.
fn route(path: &str, body: impl Fn() -> &'static [u8] + Copy + 'static) -> web::Resource<web::DefaultError> {
    web::resource(path).route(web::get().to(async move || json(body()))).route(web::head().to(async move || json(body())))
}

fn json(body: &'static [u8]) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(Bytes::from_static(body))
}
