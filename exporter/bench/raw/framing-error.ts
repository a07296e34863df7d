/** The bytes of a response are not the HTTP/1.1 (RFC 9112) that is accepted here. The message repeats none of them. */
export class FramingError extends Error {}
