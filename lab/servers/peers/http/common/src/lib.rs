//! What the peers in Rust share: how they are called, the bodies that they answer, the
//! socket that they listen on, and how they end. All that a request passes through is the
//! peer's own, except [`Bodies::read`].

use std::cell::Cell;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use socket2::{Domain, Socket, Type};

/// The exit statuses that all programs of the lab have.
const FAILURE: i32 = 1;
const REFUSED: i32 = 2;
const IN_USE: i32 = 3;

/// How many connections may wait to be accepted; tokio's own default, and ntex's.
const BACKLOG: i32 = 1024;

/// How a peer was called.
pub struct Call {
    name: &'static str,
    addr: SocketAddr,
    bodies: PathBuf,
    /// How many threads serve.
    pub threads: usize,
}

impl Call {
    /// Reads the command line. A call that is refused ends the process.
    pub fn read(name: &'static str) -> Call {
        let mut call = Call {
            name,
            addr: SocketAddr::from(([127, 0, 0, 1], 8083)),
            bodies: PathBuf::from(".tools/peers/bodies"),
            threads: 1,
        };
        let mut args = std::env::args().skip(1);
        while let Some(flag) = args.next() {
            if flag == "--help" || flag == "-h" {
                println!("usage: {name} [--addr HOST:PORT] [--bodies DIR] [--threads N]");
                std::process::exit(0);
            }
            if !["--addr", "--bodies", "--threads"].contains(&flag.as_str()) {
                call.ends(REFUSED, &format!("unknown flag {flag}; see --help"));
            }
            let value = args.next().unwrap_or_else(|| call.ends(REFUSED, &format!("{flag} needs a value; see --help")));
            match flag.as_str() {
                "--addr" => call.addr = call.parsed(&flag, &value, "HOST:PORT with a numeric host"),
                "--threads" => call.threads = call.parsed(&flag, &value, "a whole number from 1"),
                _ => call.bodies = value.into(),
            }
        }
        if call.threads == 0 {
            call.ends(REFUSED, "--threads: \"0\" is not accepted; give a whole number from 1");
        }
        call
    }

    fn parsed<T: std::str::FromStr>(&self, flag: &str, value: &str, wanted: &str) -> T {
        value.parse().unwrap_or_else(|_| self.ends(REFUSED, &format!("{flag}: {value:?} is not accepted; give {wanted}")))
    }

    /// Reads the bodies into memory, where they stay until the process ends.
    pub fn bodies(&self) -> Bodies {
        let lines = |file: &str| -> Vec<&'static [u8]> {
            let path: &Path = &self.bodies.join(file);
            let text = std::fs::read(path).unwrap_or_else(|e| {
                self.ends(FAILURE, &format!("--bodies: {}: {e}; make peers writes the bodies", path.display()))
            });
            if text.last() != Some(&b'\n') {
                self.ends(FAILURE, &format!("--bodies: {}: it does not end with a line; make peers writes the bodies", path.display()));
            }
            let text: &'static [u8] = text.leak();
            text[..text.len() - 1].split(|&b| b == b'\n').collect()
        };
        Bodies { simple: lines("simple.jsonl")[0], read: lines("read.jsonl").leak() }
    }

    /// Opens the address and says so. From here on SIGTERM and SIGINT end the process at
    /// once: nothing here is worth waiting for.
    pub fn listen(&self) -> TcpListener {
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
            let always = Arc::new(AtomicBool::new(true));
            if let Err(e) = signal_hook::flag::register_conditional_shutdown(signal, 0, always) {
                self.ends(FAILURE, &format!("signals: {e}"));
            }
        }
        let open = || {
            let socket = Socket::new(Domain::for_address(self.addr), Type::STREAM, None)?;
            socket.set_reuse_address(true)?;
            socket.set_nonblocking(true)?;
            socket.bind(&self.addr.into())?;
            socket.listen(BACKLOG)?;
            let listener = TcpListener::from(socket);
            let addr = listener.local_addr()?;
            Ok::<_, std::io::Error>((listener, addr))
        };
        match open() {
            Ok((listener, addr)) => {
                eprintln!("{}: listening addr={addr}", self.name);
                listener
            }
            Err(e) if e.kind() == ErrorKind::AddrInUse => self.ends(
                IN_USE,
                &format!("{} is already in use; stop the other server or choose another with --addr", self.addr),
            ),
            Err(e) => self.ends(FAILURE, &format!("--addr: {e}")),
        }
    }

    /// Ends the process because of an error of the server itself.
    pub fn failed(&self, e: &dyn std::fmt::Display) -> ! {
        self.ends(FAILURE, &format!("serve: {e}"))
    }

    fn ends(&self, status: i32, why: &str) -> ! {
        eprintln!("{}: {why}", self.name);
        std::process::exit(status)
    }
}

/// The bodies of the routes.
#[derive(Clone, Copy)]
pub struct Bodies {
    /// The body of /simple.
    pub simple: &'static [u8],
    read: &'static [&'static [u8]],
}

impl Bodies {
    /// Draws one of the bodies of /read. Each thread draws the same sequence, as the lab's
    /// server does in each process.
    pub fn read(&self) -> &'static [u8] {
        thread_local!(static STATE: Cell<u64> = const { Cell::new(20260515) });
        let mut x = STATE.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        STATE.set(x);
        // The high bits, scaled: as even as a division's rest, and cheaper.
        self.read[((x >> 32) * self.read.len() as u64 >> 32) as usize]
    }
}
