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
            .service(web::resource("/simple").route(web::get().to(async move || json(bodies.simple))))
            .service(web::resource("/read").route(web::get().to(async move || json(bodies.read()))))
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

fn json(body: &'static [u8]) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(Bytes::from_static(body))
}
