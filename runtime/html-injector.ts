/** If more bytes than this follow a `</body>`, the body items are inserted before it. */
const MAX_HELD_BYTES = 64 * 1024;

/** Elements whose content is text up to their own end tag, `</head>` in it included (HTML standard, section 13.2.5). */
const RAW_TEXT = ["script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"].map(bytesOf);
const MAX_NAME_BYTES = Math.max(...RAW_TEXT.map((name) => name.length));
const RAW_TEXT_INITIALS = new Uint8Array(256);
for (const name of RAW_TEXT) RAW_TEXT_INITIALS[name[0]!] = RAW_TEXT_INITIALS[name[0]! - 0x20] = 1;

const HEAD = bytesOf("head");
const BODY = bytesOf("body");

const [TAB, LF, FF, CR, SPACE] = [0x09, 0x0a, 0x0c, 0x0d, 0x20];
const [BANG, QUOTE, APOSTROPHE, DASH, SLASH] = [0x21, 0x22, 0x27, 0x2d, 0x2f];
const [LESS, EQUALS, GREATER, QUESTION] = [0x3c, 0x3d, 0x3e, 0x3f];

/** The state of the tokenizer at the cursor, as far as it is needed to find end tags. */
const START = 0;
const TEXT = 1;
/** After a tag's name, between its attributes. */
const TAG = 2;
const BEFORE_VALUE = 3;
const QUOTED_VALUE = 4;
const PLAIN_VALUE = 5;
/** `<!doctype`, `<?xml` and what else ends at the next `>`. */
const DECLARATION = 6;
const COMMENT = 7;
const RAW = 8;
/** Nothing more is to be inserted: bytes go through unseen. */
const DONE = 9;

/**
 * Inserts `head` before the first `</head>` and `body` before the last `</body>` of a page that comes in chunks, cut
 * anywhere. It reads bytes: the tags are ASCII in every encoding of the web but UTF-16, which is left as it is. End tags
 * in comments, attributes and scripts are none. What comes out are parts of the chunks themselves, never copies; only a
 * tag that a chunk's end cuts is kept back until the rest of it comes, and what follows a `</body>` until it is clear
 * that it was the last.
 */
export class HtmlInjector {
  readonly #head: Buffer;
  readonly #body: Buffer;
  #state = START;
  #quote = 0;
  /** The element whose content begins where the tag ends. */
  #raw: Buffer | undefined;
  #hasInserted = false;
  #needsHead: boolean;
  #needsBody: boolean;
  /** The end of the last chunk, where it may be the beginning of something. */
  #carry: Buffer | undefined;
  /** A `</body>` was seen, and what follows is kept until the page ends or another one comes. */
  #isHolding = false;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(head: Buffer, body: Buffer) {
    this.#head = head;
    this.#body = body;
    this.#needsHead = head.length > 0;
    this.#needsBody = body.length > 0;
  }

  /** Something was inserted so far. */
  get hasInserted(): boolean {
    return this.#hasInserted;
  }

  /** Returns the bytes that can be sent already; the rest is held back. */
  write(chunk: Buffer): Buffer[] {
    const out: Buffer[] = [];
    if (this.#state === DONE) return [chunk];
    const bytes = this.#carry === undefined ? chunk : Buffer.concat([this.#carry, chunk]);
    this.#carry = undefined;
    const end = this.#scan(bytes, out);
    if (end < bytes.length) this.#carry = bytes.subarray(end);
    return out;
  }

  /** The bytes that are left when the page has ended. */
  end(): Buffer[] {
    const out: Buffer[] = [];
    if (this.#isHolding) this.#insertBody(out);
    if (this.#carry !== undefined) out.push(this.#carry);
    return out;
  }

  /** Up to where the bytes were understood; the rest is the beginning of something. */
  #scan(bytes: Buffer, out: Buffer[]): number {
    const length = bytes.length;
    let sent = 0;
    let at = 0;
    let state = this.#state;
    /** The next bytes, which tell what it is, have not arrived. */
    let isCut = false;

    if (state === START) {
      if (length < 2) return 0;
      const isUtf16 = (bytes[0] === 0xfe && bytes[1] === 0xff) || (bytes[0] === 0xff && bytes[1] === 0xfe);
      state = isUtf16 || !(this.#needsHead || this.#needsBody) ? DONE : TEXT;
    }
    while (at < length && !isCut && state !== DONE) {
      switch (state) {
        case TEXT: {
          at = indexOfLess(bytes, at);
          if (at === length) break;
          if (at + 1 === length) {
            isCut = true;
            break;
          }
          const next = bytes[at + 1]!;
          if (isLetter(next)) {
            if (isRawTextInitial(next)) {
              if (length - at < MAX_NAME_BYTES + 2 && !hasNameEnd(bytes, at + 1)) {
                isCut = true;
                break;
              }
              this.#raw = rawTextName(bytes, at + 1);
            }
            at += 2;
            const end = this.#raw === undefined ? endOfTag(bytes, at) : -1;
            if (end === -1) state = TAG;
            else at = end;
          } else if (next === SLASH) {
            if (length - at < HEAD.length + 3 && !hasNameEnd(bytes, at + 2)) {
              isCut = true;
              break;
            }
            if (this.#needsHead && isName(bytes, at + 2, HEAD)) {
              this.#emit(bytes.subarray(sent, at), out);
              this.#emit(this.#head, out);
              this.#hasInserted = true;
              sent = at;
              this.#needsHead = false;
              if (!this.#needsBody) {
                state = DONE;
                break;
              }
            } else if (this.#needsBody && isName(bytes, at + 2, BODY)) {
              this.#emit(bytes.subarray(sent, at), out);
              sent = at;
              // The one before was not the last, unless it was too far back to wait for another.
              if (this.#needsBody) this.#hold(out);
            }
            at += 2;
            // Most end tags are nothing but a name.
            while (at < length && isLetter(bytes[at]!)) at++;
            if (at === length || bytes[at] !== GREATER) state = isLetter(bytes[at - 1]!) ? TAG : DECLARATION;
            else at++;
          } else if (next === BANG) {
            if (length - at < 4 && isDashes(bytes, at + 2, length)) {
              isCut = true;
              break;
            }
            state = bytes[at + 2] === DASH && bytes[at + 3] === DASH ? COMMENT : DECLARATION;
            // The dashes of `<!-->` end the comment that they begin.
            at += 2;
          } else if (next === QUESTION) {
            state = DECLARATION;
            at += 2;
          } else {
            at++;
          }
          break;
        }
        case TAG: {
          while (at < length && bytes[at] !== GREATER && bytes[at] !== EQUALS) at++;
          if (at === length) break;
          if (bytes[at++] === EQUALS) state = BEFORE_VALUE;
          else state = this.#raw === undefined ? TEXT : RAW;
          break;
        }
        case BEFORE_VALUE: {
          const byte = bytes[at]!;
          if (byte === QUOTE || byte === APOSTROPHE) {
            this.#quote = byte;
            state = QUOTED_VALUE;
            at++;
          } else if (isSpace(byte)) at++;
          else state = byte === GREATER ? TAG : PLAIN_VALUE;
          break;
        }
        case QUOTED_VALUE: {
          const quote = this.#quote;
          while (at < length && bytes[at] !== quote) at++;
          if (at < length) {
            state = TAG;
            at++;
          }
          break;
        }
        case PLAIN_VALUE: {
          const byte = bytes[at]!;
          if (byte === GREATER || isSpace(byte)) state = TAG;
          else at++;
          break;
        }
        case DECLARATION: {
          while (at < length && bytes[at] !== GREATER) at++;
          if (at < length) {
            state = TEXT;
            at++;
          }
          break;
        }
        case COMMENT: {
          const dashesAt = bytes.indexOf("--", at, "latin1");
          if (dashesAt === -1) {
            at = length;
            if (bytes[length - 1] === DASH) {
              at--;
              isCut = true;
            }
          } else if (dashesAt + 2 === length || (bytes[dashesAt + 2] === BANG && dashesAt + 3 === length)) {
            at = dashesAt;
            isCut = true;
          } else if (bytes[dashesAt + 2] === GREATER) {
            state = TEXT;
            at = dashesAt + 3;
          } else if (bytes[dashesAt + 2] === BANG && bytes[dashesAt + 3] === GREATER) {
            state = TEXT;
            at = dashesAt + 4;
          } else at = dashesAt + 1;
          break;
        }
        case RAW: {
          const endTagAt = bytes.indexOf("</", at, "latin1");
          if (endTagAt === -1) {
            at = length;
            if (bytes[length - 1] === LESS) {
              at--;
              isCut = true;
            }
          } else if (length - endTagAt < MAX_NAME_BYTES + 3 && !hasNameEnd(bytes, endTagAt + 2)) {
            at = endTagAt;
            isCut = true;
          } else if (isName(bytes, endTagAt + 2, this.#raw!)) {
            this.#raw = undefined;
            state = TAG;
            at = endTagAt + 2;
          } else at = endTagAt + 2;
          break;
        }
      }
    }
    this.#state = state;
    // From the last mark on, which is where the cursor is unless something was cut: after DONE all bytes pass.
    const end = state === DONE ? length : at;
    this.#emit(bytes.subarray(sent, end), out);
    return end;
  }

  /** Onwards, or to what is held. */
  #emit(part: Buffer, out: Buffer[]): void {
    if (part.length === 0) return;
    if (!this.#isHolding) {
      out.push(part);
      return;
    }
    this.#held.push(part);
    this.#heldBytes += part.length;
    if (this.#heldBytes > MAX_HELD_BYTES) {
      this.#insertBody(out);
      this.#needsBody = false;
      if (!this.#needsHead) this.#state = DONE;
    }
  }

  #hold(out: Buffer[]): void {
    this.#release(out);
    this.#isHolding = true;
  }

  #release(out: Buffer[]): void {
    for (const part of this.#held) out.push(part);
    this.#held = [];
    this.#heldBytes = 0;
    this.#isHolding = false;
  }

  #insertBody(out: Buffer[]): void {
    out.push(this.#body);
    this.#hasInserted = true;
    this.#release(out);
  }
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

/** Without case; a longer name (`</header>`) is another one. */
function isName(bytes: Buffer, at: number, name: Buffer): boolean {
  for (let i = 0; i < name.length; i++) if ((bytes[at + i]! | 0x20) !== name[i]) return false;
  return at + name.length < bytes.length && isNameEnd(bytes[at + name.length]!);
}

/** Between tags there is mostly next to nothing, which a loop reads faster than a call is made; text is for the call. */
const SHORT_BYTES = 16;

/** The length where there is none. */
function indexOfLess(bytes: Buffer, from: number): number {
  const end = Math.min(from + SHORT_BYTES, bytes.length);
  let at = from;
  while (at < end && bytes[at] !== LESS) at++;
  if (at < end || at === bytes.length) return at;
  const index = bytes.indexOf(LESS, at);
  return index === -1 ? bytes.length : index;
}

/** The name that begins at `at` ends before the bytes do. */
function hasNameEnd(bytes: Buffer, at: number): boolean {
  for (let i = at; i < bytes.length; i++) if (isNameEnd(bytes[i]!)) return true;
  return false;
}

function isNameEnd(byte: number): boolean {
  return byte === GREATER || byte === SLASH || isSpace(byte);
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === TAB || byte === CR || byte === FF;
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function isRawTextInitial(byte: number): boolean {
  return RAW_TEXT_INITIALS[byte] === 1;
}

function rawTextName(bytes: Buffer, at: number): Buffer | undefined {
  for (const name of RAW_TEXT) if (isName(bytes, at, name)) return name;
  return undefined;
}

/**
 * The offset after the `>` of a tag that is complete and has nothing unusual, as nearly all tags; -1 for any other, which
 * the states have to read. Most of the time is spent here: a page has a tag every 20 bytes.
 */
function endOfTag(bytes: Buffer, from: number): number {
  const length = bytes.length;
  for (let at = from; at < length; at++) {
    const byte = bytes[at]!;
    if (byte === GREATER) return at + 1;
    if (byte !== EQUALS) continue;
    const quote = bytes[++at];
    if (quote !== QUOTE && quote !== APOSTROPHE) return -1;
    do at++;
    while (at < length && bytes[at] !== quote);
  }
  return -1;
}

function isDashes(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== DASH) return false;
  return true;
}
