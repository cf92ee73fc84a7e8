/** Refuses a text that is certainly no address. The rest is for the service, and its mail server, to say. */
export function isEmailAddress(text: string): boolean {
  return /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u.test(text) && text.length <= 254;
}
