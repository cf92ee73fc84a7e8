// Answers with the status of the path (/404/3) and the beginning of a page, and breaks off after so many turns of the event
// loop. With `gzip` in the query the page is compressed.
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";

const PAGE = Buffer.from(`<html><head></head><body>${"text ".repeat(100)}</body></html>`);

createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", (request) => {
    const [, status, turns, gzip] = /^\w+ \/(\d+)\/(\d+)(\?gzip)?/.exec(request.toString("latin1")) ?? [];
    if (status === undefined) return socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const body = gzip === undefined ? PAGE : gzipSync(PAGE);
    const coding = gzip === undefined ? "" : "Content-Encoding: gzip\r\n";
    socket.write(`HTTP/1.1 ${status} X\r\nContent-Type: text/html\r\n${coding}Content-Length: ${body.length}\r\n\r\n`);
    socket.write(body.subarray(0, body.length - 10));
    let left = Number(turns);
    const turn = () => (left-- > 0 ? setImmediate(turn) : socket.destroy());
    turn();
  });
}).listen(process.env.PORT);
