/* c_floor answers HTTP requests with prepared bytes: the least that a server on epoll can
 * cost. It stands beside floor_server, which reads HTTP, to say what that costs.
 *
 * One thread. A connection is read once an event, and all requests of that read are
 * answered by one write. Answers are whole in memory, head and body, and their date stands
 * still. Of a request it looks for the end of the head and for the path in its first line.
 *
 * Limits: GET only, no bodies, heads of at most 16 KiB, no timeouts, IPv4. It is for load
 * tests on trusted networks. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 1, REFUSED = 2, IN_USE = 3 };                          /* exit statuses, as all programs of the lab have them */
enum { MOST_IN = 16 << 10, MOST_PIECES = 1024, AT_ONCE = 256 };        /* bytes, answers and connections */
enum { SIMPLE, READ, MISSING, REFUSE, ROUTES };

static const char help[] =
	"c_floor answers HTTP requests with prepared bytes: the least that a server can cost.\n\n"
	"Usage: c_floor [--addr HOST:PORT] [--bodies FILE] [--workers 1]\n\n"
	"  --addr HOST:PORT  IPv4 address to listen on (default 127.0.0.1:8083)\n"
	"  --bodies FILE     the bodies of /read, one a line; without it there is no /read\n"
	"  --workers 1       it has one thread, and refuses to be taken for more\n\n"
	"Routes: /simple /read\n"
	"SIGTERM or SIGINT ends it at once.\n\n"
	"Exit codes: 0 ended when asked, 1 failed, 2 a setting was refused, 3 the address\n"
	"is in use.\n";

struct answers { struct iovec *all; size_t n; }; /* of a route, drawn with equal probability */
static struct answers routes[ROUTES];

struct conn {
	char *rest; size_t kept;          /* of requests that are not answered yet */
	int whole;                        /* some of those may be whole */
	char *owed; size_t from, to;      /* of answers that the socket has not taken yet */
};
static struct conn **conns; /* by descriptor */
static size_t room;

static void end(int status, const char *format, ...) {
	va_list args;
	va_start(args, format);
	fputs("c_floor: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(status);
}

static void *need(void *p) {
	if (!p) end(FAILED, "no memory");
	return p;
}

static void asked(int signal) { (void)signal; _exit(0); }

static void prepare(int route, const char *status, const char *body, size_t length) {
	static char date[32];
	if (!*date) {
		time_t now = time(NULL);
		strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&now));
	}
	struct answers *a = &routes[route];
	char head[256];
	int n = snprintf(head, sizeof head, "HTTP/1.1 %s\r\nDate: %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n", status, date, length);
	char *whole = need(malloc(n + length));
	memcpy(whole, head, n);
	memcpy(whole + n, body, length);
	a->all = need(realloc(a->all, (a->n + 1) * sizeof *a->all));
	a->all[a->n++] = (struct iovec){whole, n + length};
}

static void read_bodies(const char *path) {
	FILE *f = fopen(path, "r");
	if (!f) end(REFUSED, "--bodies: %s: %s", path, strerror(errno));
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	while ((n = getline(&line, &size, f)) > 0) {
		if (line[n - 1] != '\n' || n == 1) end(REFUSED, "--bodies: %s: line %zu is empty or has no end", path, routes[READ].n + 1);
		prepare(READ, "200 OK", line, n - 1);
	}
	if (ferror(f)) end(REFUSED, "--bodies: %s: %s", path, strerror(errno));
	if (!routes[READ].n) end(REFUSED, "--bodies: %s has no line", path);
	free(line);
	fclose(f);
}

static uint32_t draw(uint32_t below) { /* xorshift64*, as cheap as the table of the lab's server */
	static uint64_t x = 88172645463325252u;
	x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
	return (uint32_t)(((x * 2685821657736338717u >> 32) * below) >> 32);
}

static int begins(const char *in, size_t n, const char *with) {
	size_t k = strlen(with);
	return n >= k && !memcmp(in, with, k);
}

static struct iovec to(const char *head, size_t n) {
	int route = REFUSE;
	if (begins(head, n, "GET ")) {
		head += 4, n -= 4;
		route = begins(head, n, "/simple ") ? SIMPLE : begins(head, n, "/read ") && routes[READ].n ? READ : MISSING;
	}
	struct answers *a = &routes[route];
	return a->all[a->n > 1 ? draw(a->n) : 0];
}

static int blocked(void) { return errno == EAGAIN || errno == EINTR; }

static void owe(struct conn *c, const struct iovec *v, int n, size_t skip) {
	size_t all = 0;
	for (int i = 0; i < n; i++) all += v[i].iov_len;
	if (skip == all) return;
	c->owed = need(realloc(c->owed, all - skip));
	c->from = c->to = 0;
	for (int i = 0; i < n; i++) {
		size_t past = skip < v[i].iov_len ? skip : v[i].iov_len;
		skip -= past;
		memcpy(c->owed + c->to, (char *)v[i].iov_base + past, v[i].iov_len - past);
		c->to += v[i].iov_len - past;
	}
}

/* turn does what a connection is ready for, and says whether it stays open. */
static int turn(int fd, struct conn *c, int ended) {
	static char in[MOST_IN];
	static struct iovec out[MOST_PIECES];
	for (;;) {
		while (c->from < c->to) {
			ssize_t n = write(fd, c->owed + c->from, c->to - c->from);
			if (n < 0) return blocked();
			c->from += n;
		}
		size_t kept = c->kept;
		if (kept) memcpy(in, c->rest, kept);
		ssize_t got = c->whole ? 0 : read(fd, in + kept, MOST_IN - kept);
		if (!c->whole && got <= 0) return got < 0 && blocked();
		size_t n = kept + got, at = 0;
		int emptied = n < MOST_IN && !ended, pieces = 0;
		char *stop;
		while (pieces < MOST_PIECES && (stop = memmem(in + at, n - at, "\r\n\r\n", 4))) {
			out[pieces++] = to(in + at, stop - (in + at));
			at = stop + 4 - in;
		}
		c->whole = pieces == MOST_PIECES;
		if (n - at == MOST_IN) return 0; /* a head that is too long */
		if ((c->kept = n - at)) {
			if (!c->rest) c->rest = need(malloc(MOST_IN));
			memcpy(c->rest, in + at, n - at);
		}
		if (pieces) {
			ssize_t sent = pieces == 1 ? write(fd, out[0].iov_base, out[0].iov_len) : writev(fd, out, pieces);
			if (sent < 0 && !blocked()) return 0;
			owe(c, out, pieces, sent < 0 ? 0 : sent);
			if (c->from < c->to) return 1;
		}
		if (emptied && !c->whole) return 1;
	}
}

static void drop(int fd) {
	struct conn *c = conns[fd];
	conns[fd] = NULL;
	close(fd);
	free(c->rest);
	free(c->owed);
	free(c);
}

static void take(int epoll, int listener) {
	int fd;
	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = fd};
		if ((size_t)fd >= room) {
			size_t more = fd * 2 + 64;
			conns = need(realloc(conns, more * sizeof *conns));
			memset(conns + room, 0, (more - room) * sizeof *conns);
			room = more;
		}
		conns[fd] = need(calloc(1, sizeof **conns));
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e)) end(FAILED, "epoll: %s", strerror(errno));
	}
	if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) end(FAILED, "accept: %s", strerror(errno));
}

static int listen_on(const char *text, struct sockaddr_in *at) {
	char host[64];
	const char *colon = strrchr(text, ':');
	char *rest = NULL;
	long port = colon ? strtol(colon + 1, &rest, 10) : -1;
	*at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	if (!colon || !colon[1] || *rest || port < 0 || port > 65535 || snprintf(host, sizeof host, "%.*s", (int)(colon - text), text) >= (int)sizeof host || inet_pton(AF_INET, host, &at->sin_addr) != 1)
		end(REFUSED, "--addr: \"%s\" is not accepted; give an IPv4 HOST:PORT, as in 127.0.0.1:8083", text);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
	if (fd < 0) end(FAILED, "socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one); /* connections have it from the listener */
	if (bind(fd, (struct sockaddr *)at, sizeof *at) || listen(fd, SOMAXCONN)) {
		if (errno == EADDRINUSE) end(IN_USE, "%s is already in use; stop the other server or choose another with --addr", text);
		end(FAILED, "--addr: %s: %s", text, strerror(errno));
	}
	socklen_t size = sizeof *at;
	getsockname(fd, (struct sockaddr *)at, &size);
	return fd;
}

int main(int argc, char **argv) {
	const char *addr = "127.0.0.1:8083", *bodies = NULL, *workers = "1";
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return fputs(help, stdout) < 0;
		const char **to = !strcmp(argv[i], "--addr") ? &addr : !strcmp(argv[i], "--bodies") ? &bodies : !strcmp(argv[i], "--workers") ? &workers : NULL;
		if (!to || i + 1 == argc) end(REFUSED, "%s is no option, or has no value; see --help", argv[i]);
		*to = argv[++i];
	}
	if (strcmp(workers, "1")) end(REFUSED, "--workers: %s is not accepted; c_floor has one thread, so give 1", workers);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, asked);
	signal(SIGINT, asked);
	static const char simple[] = "{\"message\":\"hi\"}", missing[] = "{\"error\":\"Not Found\"}", refused[] = "{\"error\":\"Method Not Allowed\"}";
	prepare(SIMPLE, "200 OK", simple, sizeof simple - 1);
	prepare(MISSING, "404 Not Found", missing, sizeof missing - 1);
	prepare(REFUSE, "405 Method Not Allowed", refused, sizeof refused - 1);
	if (bodies) read_bodies(bodies);
	struct sockaddr_in at;
	int listener = listen_on(addr, &at), epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e)) end(FAILED, "epoll: %s", strerror(errno));
	char host[INET_ADDRSTRLEN];
	fprintf(stderr, "c_floor: worker pid=%d listening addr=%s:%d\n", getpid(), inet_ntop(AF_INET, &at.sin_addr, host, sizeof host), ntohs(at.sin_port));
	for (;;) {
		struct epoll_event events[AT_ONCE];
		int n = epoll_wait(epoll, events, AT_ONCE, -1);
		if (n < 0 && errno != EINTR) end(FAILED, "epoll: %s", strerror(errno));
		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;
			if (fd == listener) take(epoll, listener);
			else if ((events[i].events != EPOLLOUT || conns[fd]->from < conns[fd]->to) && !turn(fd, conns[fd], events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))) drop(fd);
		}
	}
}
