// Output as it should not be: torn lines, invalid UTF-8, no newline at the end, very long lines, a flood.
import { createServer } from "node:http";

const write = (stream, ...parts) =>
  parts.reduce(
    (before, part) => before.then(() => new Promise((done) => setTimeout(done, 15, stream.write(part)))),
    Promise.resolve(),
  );

createServer(async (req, res) => {
  switch (req.url) {
    case "/torn":
      await write(process.stdout, "one", " line\ntwo ", Buffer.from([0xe2, 0x82]), Buffer.from([0xac, 0x0a]));
      await write(process.stderr, "an err", "or\r\n");
      break;
    case "/structured":
      await write(
        process.stdout,
        '{"level":"debug","message":"user ',
        'login","fields":{"user":"ada"}}\n',
        '{"level":"warn","message":"extra","user":7,"timestamp":"2024-01-02T03:04:05Z"}\n',
        '{"level":1,"message":"no level"}\n{"message":"no level either"}\n[1]\n{broken\n',
      );
      break;
    case "/invalid":
      await write(process.stdout, Buffer.from([0x61, 0xff, 0x62, 0x0a]), "\n  \n");
      break;
    case "/flood":
      for (let i = 0; i < 20_000; i++) process.stdout.write(`line ${i}\n`);
      break;
    case "/last":
      process.stdout.write("no newline");
      setTimeout(() => process.exit(0), 20);
  }
  res.end("written");
}).listen(process.env.PORT);
