/**
 * All that a header's value may not hold (RFC 9110, section 5.5): other than visible characters, blanks, tabs and bytes
 * beyond ASCII. A line end would begin a header of its own.
 */
export const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
