// In place of GitHub's API: one open pull request, whose build left the archive that the
// first argument names, an artifact of the third one's name, and that has the comments of the fourth. It prints its port, and writes down what is written to it.
import http from 'node:http';
import fs from 'node:fs';

const [archive, log, artifact, comments] = process.argv.slice(2);
const commit = '0123456789abcdef0123456789abcdef01234567';
const answers = {
  '/pulls': [{ number: 12, head: { sha: commit, repo: { id: 9 } } }],
  '/actions/runs/77/artifacts': { artifacts: [{ id: 5, name: artifact, size_in_bytes: fs.statSync(archive).size }] },
  '/issues/12/comments': JSON.parse(comments),
};
const server = http.createServer((request, response) => {
  const path = new URL(request.url, 'http://x').pathname.replace('/repos/line-rate/line-rate', '');
  let body = '';
  request.on('data', (data) => { body += data; });
  request.on('end', () => {
    if (request.method !== 'GET') fs.appendFileSync(log, `${request.method} ${path} ${JSON.stringify(JSON.parse(body).body)}\n`);
    if (request.method === 'GET' && path === '/actions/artifacts/5/zip') return response.end(fs.readFileSync(archive));
    if (request.method === 'GET' && !(path in answers)) response.statusCode = 404;
    response.end(JSON.stringify(answers[path] ?? {}));
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
