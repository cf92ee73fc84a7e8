// Frames of an event stream: a prelude with two lengths and its checksum, headers, a payload, a checksum of all.
import { crc32 } from "node:zlib";

export function eventFrame(type: string, payload: Uint8Array, contentType = "application/json"): Buffer {
  return frame({ ":event-type": type, ":content-type": contentType, ":message-type": "event" }, payload);
}

const TEXT_HEADER = 7;

function frame(headers: Readonly<Record<string, string>>, payload: Uint8Array): Buffer {
  const parts = Object.entries(headers).map(([name, value]) => {
    const head = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([TEXT_HEADER, 0, 0])]);
    const text = Buffer.from(value);
    head.writeUInt16BE(text.length, head.length - 2);
    return Buffer.concat([head, text]);
  });
  const headerBytes = Buffer.concat(parts);
  const whole = Buffer.alloc(12 + headerBytes.length + payload.length + 4);
  whole.writeUInt32BE(whole.length, 0);
  whole.writeUInt32BE(headerBytes.length, 4);
  whole.writeUInt32BE(crc32(whole.subarray(0, 8)), 8);
  headerBytes.copy(whole, 12);
  whole.set(payload, 12 + headerBytes.length);
  whole.writeUInt32BE(crc32(whole.subarray(0, -4)), whole.length - 4);
  return whole;
}
